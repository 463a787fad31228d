# Homebrew's formula; .ci/release puts the version and the sums in.
class Parley < Formula
  desc "Lets coding agents on several computers work on one repository"
  homepage "https://github.com/parley-mesh/parley"
  version "@VERSION@"
  license "MIT"

  depends_on "git"

  on_macos do
    on_arm do
      url "https://github.com/parley-mesh/parley/releases/download/v@VERSION@/parley-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256-darwin-arm64@"
    end
    on_intel do
      url "https://github.com/parley-mesh/parley/releases/download/v@VERSION@/parley-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@SHA256-darwin-amd64@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/parley-mesh/parley/releases/download/v@VERSION@/parley-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256-linux-arm64@"
    end
    on_intel do
      url "https://github.com/parley-mesh/parley/releases/download/v@VERSION@/parley-@VERSION@-linux-amd64.tar.gz"
      sha256 "@SHA256-linux-amd64@"
    end
  end

  def install
    bin.install "parley", "parley-hook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/parley.bash" => "parley"
    zsh_completion.install "completions/parley.zsh" => "_parley"
    fish_completion.install "completions/parley.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/parley version")
  end
end
