package service

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf16"
)

// label is a service's name as launchd wants it.
func label(name string) string { return "org.parley-mesh." + name }

func (s Service) label() string { return label(s.Name) }

// Definition is the file that tells the system about the service. [ErrPath] when it cannot name the program
// or the home.
func (s Service) Definition() ([]byte, error) {
	for _, path := range []string{s.Program, s.Home} {
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) || !validUTF8(path) {
			return nil, fmt.Errorf("%q: %w", path, ErrPath)
		}
	}
	switch s.Kind {
	case Systemd:
		return []byte(s.unit()), nil
	case Launchd:
		return []byte(s.agent()), nil
	case Task:
		return wide(s.task()), nil
	}
	return nil, ErrNoManager
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// unit is the definition for systemd. The node says itself when it is ready. A fault that only a person can mend
// would come again at once, so the system gives up after twenty tries in ten minutes.
func (s Service) unit() string {
	return `[Unit]
Description=parley: settles pull-request conflicts between your computers
Documentation=man:parley(1)
After=network-online.target
StartLimitIntervalSec=600
StartLimitBurst=20

[Service]
Type=notify
ExecStart=` + unitWord(s.Program) + ` --home ` + strings.ReplaceAll(unitWord(s.Home), "$", "$$") + ` up --service
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
TimeoutStartSec=300
TimeoutStopSec=60
KillMode=mixed
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`
}

// unitWord is one word of a command line as systemd reads it. In all but the first a dollar sign would have to
// be doubled, too.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s) + `"`
}

// agent is the definition for launchd, which keeps the program running unless it ended well.
func (s Service) agent() string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + escape(s.label()) + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + escape(s.Program) + `</string>
		<string>--home</string>
		<string>` + escape(s.Home) + `</string>
		<string>up</string>
		<string>--service</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>60</integer>
	<key>ProcessType</key>
	<string>Background</string>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardOutPath</key>
	<string>/dev/null</string>
	<key>StandardErrorPath</key>
	<string>` + escape(s.Home+"/service.err") + `</string>
</dict>
</plist>
`
}

// task is the definition for Windows: a task of the person, begun when they sign in, with their rights alone. Without
// their name it would begin when anybody does, which only an administrator may ask for. A
// service of Windows would have neither their keys nor their gh.
func (s Service) task() string {
	return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>parley: settles pull-request conflicts between your computers</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>` + escape(s.User) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>` + escape(s.User) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>20</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>` + escape(`"`+s.Program+`"`) + `</Command>
      <Arguments>` + escape(`--home "`+s.Home+`" up --service`) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

func escape(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}

// wide is text as Windows wants it of a task: UTF-16 with its mark.
func wide(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(s, "\n", "\r\n"))) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

// narrow is the reverse of wide.
func narrow(b string) string {
	if !strings.HasPrefix(b, "\xff\xfe") {
		return b
	}
	var units []uint16
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, binary.LittleEndian.Uint16([]byte(b[i:i+2])))
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\r\n", "\n")
}

// programOf reads the program's path out of a definition that this package wrote; "" for any other.
func programOf(k Kind, text string) string {
	switch k {
	case Systemd:
		_, rest, found := strings.Cut(text, "\nExecStart=\"")
		word, _, ended := strings.Cut(rest, "\" --home ")
		if !found || !ended {
			return ""
		}
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%").Replace(word)
	case Launchd:
		_, rest, _ := strings.Cut(text, "<key>ProgramArguments</key>")
		return unescape(between(rest, "<string>", "</string>"))
	case Task:
		return strings.Trim(unescape(between(narrow(text), "<Command>", "</Command>")), `"`)
	}
	return ""
}

// homeOf reads the home out of a definition that this package wrote; "" for any other.
func homeOf(k Kind, text string) string {
	switch k {
	case Systemd:
		_, rest, _ := strings.Cut(text, "\nExecStart=\"")
		word := between(rest, "\" --home \"", "\" up --service\n")
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%", "$$", "$").Replace(word)
	case Launchd:
		return unescape(between(text, "<string>--home</string>\n\t\t<string>", "</string>"))
	case Task:
		return between(unescape(between(narrow(text), "<Arguments>", "</Arguments>")), `--home "`, `" up --service`)
	}
	return ""
}

// wrote reports whether a definition is one of parley's, of whatever version: each starts a node as a service. An
// empty one is what a crash left of it.
func (s Service) wrote(text string) bool {
	text = narrow(text)
	return text == "" || strings.Contains(text, "--home") && strings.Contains(text, "--service") && programOf(s.Kind, text) != ""
}

func between(s, before, after string) string {
	_, rest, found := strings.Cut(s, before)
	word, _, ended := strings.Cut(rest, after)
	if !found || !ended {
		return ""
	}
	return word
}

func unescape(s string) string {
	var out string
	if err := xml.Unmarshal([]byte("<s>"+s+"</s>"), &out); err != nil {
		return ""
	}
	return out
}
