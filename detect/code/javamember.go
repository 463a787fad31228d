package code

import "regexp"

// javaVariable notes the type of a local name or parameter.
func (s *scan) javaVariable(i, scope int) {
	up := s.parent(i)
	if scope < 0 {
		return
	}
	if s.is(up, "variable_declarator") {
		of := javaTypeName(s.plain(s.child(s.parent(up), "type")))
		if made := s.child(up, "value"); of == "var" {
			of = s.javaMade(made)
		}
		s.noteType(s.text(i), scope, of)
		return
	}
	s.noteType(s.text(i), scope, javaTypeName(s.plain(s.child(up, "type"))))
}

// javaMade is the class of new T(…), "" for any other value.
func (s *scan) javaMade(value int) string {
	if s.is(value, "object_creation_expression") {
		return javaTypeName(s.plain(s.child(value, "type")))
	}
	return ""
}

var plainJava = regexp.MustCompile(`^([A-Za-z_]\w*)(?:<.*>)?$`)

func javaTypeName(text string) string {
	if m := plainJava.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// javaMember refers to the method or field that x.m, new T().m or this.x.m names, in a call or a reading of a field.
func (s *scan) javaMember(whole int) {
	name := s.child(whole, "name")
	if s.is(whole, "field_access") {
		name = s.child(whole, "field")
	}
	of := ""
	switch object := s.child(whole, "object"); s.kind(object) {
	case "identifier":
		if of = s.typeAt(s.text(object), object); of == "" && !s.hidden(s.text(object), object) {
			of = s.javaField(s.text(object), object)
		}
	case "object_creation_expression":
		of = s.javaMade(object)
	case "field_access":
		if s.is(s.child(object, "object"), "this") {
			of = s.javaField(s.text(s.child(object, "field")), object)
		}
	}
	if name >= 0 {
		s.memberOf(of, s.text(name), s.javaKind(name), name)
	}
}

// javaField is the type of a field of the class around.
func (s *scan) javaField(name string, at int) string {
	class := s.classAround(at)
	if class < 0 {
		return ""
	}
	if i := s.index[s.unit.Symbols[class].ID+"."+name]; i > 0 {
		return javaTypeName(s.unit.Symbols[i].Signature.Result)
	}
	return ""
}
