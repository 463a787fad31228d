package excerpt

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// secretDirs are directories, secretNames names and secretEnds ends of names of files that hold keys as a rule.
var (
	secretDirs  = []string{".ssh", ".aws", ".gnupg", ".kube", ".gcloud", ".azure", ".docker", "secrets", ".secrets"}
	secretNames = []string{
		".envrc", ".netrc", "_netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg", ".vault-token",
		"kubeconfig", "authorized_keys", "google-services.json", "local.settings.json", "wp-config.php", "master.key",
	}
	secretEnds = []string{
		".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".kdb", ".asc", ".gpg", ".pgp", ".age", ".der", ".ppk", ".crt", ".cer",
		".tfvars", ".tfvars.json", ".tfstate", ".tfstate.backup", ".ovpn", ".mobileprovision", ".keytab", ".secret", ".secrets", ".token", "-key.json", "_key.json",
	}
	// dataEnds are ends of names of files that hold settings and no program.
	dataEnds = []string{"", ".json", ".yaml", ".yml", ".toml", ".ini", ".conf", ".cfg", ".config", ".properties", ".txt", ".xml", ".env", ".csv", ".sql", ".enc"}
)

var (
	secretStem = regexp.MustCompile(`secret|credential|passw|token|apikey|api[-_]key|private[-_]?key|service[-_]?account`)
	keyName    = regexp.MustCompile(`^id_(rsa|dsa|ecdsa|ed25519|xmss)|^\.?env([.-]|$)|^\.env`)
)

// Secret reports whether a path is one of those that hold keys or passwords as a rule. Nothing of it is shown.
func Secret(p string) bool {
	parts := strings.Split(strings.ToLower(p), "/")
	name := parts[len(parts)-1]
	if slices.ContainsFunc(parts[:len(parts)-1], func(dir string) bool { return slices.Contains(secretDirs, dir) }) || slices.Contains(secretNames, name) {
		return true
	}
	if keyName.MatchString(name) || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return true
	}
	return secretStem.MatchString(name) && slices.Contains(dataEnds, path.Ext(name))
}

// secretForm is how keys and passwords look that services give out, or that programs name in a line of their own.
var secretForm = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`, `-----BEGIN PGP`, `AGE-SECRET-KEY-1`, `PuTTY-User-Key-File`,
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`, `\bgh[pousr]_[0-9A-Za-z]{20}`, `\bgithub_pat_[0-9A-Za-z_]{20}`, `\bglpat-[0-9A-Za-z_-]{16}`,
	`\bxox[abeoprs]-[0-9A-Za-z-]{10}`, `\b[rs]k_(?:live|test)_[0-9A-Za-z]{10}`, `\bsk-[0-9A-Za-z_-]{20}`, `\bAIza[0-9A-Za-z_-]{30}`, `\bya29\.[0-9A-Za-z_-]{20}`,
	`\bnpm_[0-9A-Za-z]{30}`, `\bpypi-[0-9A-Za-z_-]{30}`, `\bSG\.[0-9A-Za-z_-]{16,}\.`, `\bhf_[0-9A-Za-z]{30}`, `\bdop_v1_[0-9a-f]{32}`,
	`\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.`, `(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@"']+:[^\s/@"'{}$<>]{3,}@`,
	`(?i)(?:passw(?:or)?d|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|client[-_]?secret)["']?\s*(?::=|[:=])\s*["'][^\s"'{}$<>]{8,}["']`,
}, "|"))

// secretText reports whether a content has what looks like a key or a password. Then nothing of the file is shown: who
// keeps one there keeps others.
func secretText(content []byte) bool { return secretForm.Match(content) }
