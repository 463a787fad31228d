package code

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// typeNames are what the type parameters in scope are called in normal forms, where their own names do not
// matter.
type typeNames map[string]string

// params reads type parameters and gives them their names.
func (n typeNames) params(list *ast.FieldList) (params []detect.Param) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			n[id.Name] = "$" + strconv.Itoa(len(n))
		}
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			params = append(params, detect.Param{Name: id.Name, Type: n.text(f.Type)})
		}
	}
	return params
}

// signature reads parameters, grouped ones one by one, and results, whose names do not matter.
func (n typeNames) signature(f *ast.FuncType) (params []detect.Param, result string) {
	for _, field := range list(f.Params) {
		param := detect.Param{}
		if dots, ok := field.Type.(*ast.Ellipsis); ok {
			param.Kind, param.Type = detect.Variadic, n.text(dots.Elt)
		} else {
			param.Type = n.text(field.Type)
		}
		for _, id := range field.Names {
			param.Name = id.Name
			params = append(params, param)
		}
		if len(field.Names) == 0 {
			params = append(params, param)
		}
	}
	var results []string
	for _, field := range list(f.Results) {
		for range max(1, len(field.Names)) {
			results = append(results, n.text(field.Type))
		}
	}
	return params, strings.Join(results, ", ")
}

func list(l *ast.FieldList) []*ast.Field {
	if l == nil {
		return nil
	}
	return l.List
}

// text is the normal form of a type.
func (n typeNames) text(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.Ident:
		if name, ok := n[t.Name]; ok {
			return name
		}
		return t.Name
	case *ast.ParenExpr:
		return n.text(t.X)
	case *ast.StarExpr:
		return "*" + n.text(t.X)
	case *ast.SelectorExpr:
		return n.text(t.X) + "." + t.Sel.Name
	case *ast.ArrayType:
		if t.Len == nil {
			return "[]" + n.text(t.Elt)
		}
		return "[" + n.text(t.Len) + "]" + n.text(t.Elt)
	case *ast.Ellipsis:
		if t.Elt == nil {
			return "..."
		}
		return "..." + n.text(t.Elt)
	case *ast.MapType:
		return "map[" + n.text(t.Key) + "]" + n.text(t.Value)
	case *ast.ChanType:
		return map[ast.ChanDir]string{ast.SEND: "chan<- ", ast.RECV: "<-chan "}[t.Dir] + strings.Repeat("chan ", int(t.Dir)/3) + n.text(t.Value)
	case *ast.FuncType:
		return n.function("func", t)
	case *ast.StructType:
		return n.structure(t)
	case *ast.InterfaceType:
		return n.iface(t)
	case *ast.IndexExpr:
		return n.text(t.X) + "[" + n.text(t.Index) + "]"
	case *ast.IndexListExpr:
		var args []string
		for _, a := range t.Indices {
			args = append(args, n.text(a))
		}
		return n.text(t.X) + "[" + strings.Join(args, ", ") + "]"
	case *ast.BinaryExpr:
		return n.text(t.X) + " " + t.Op.String() + " " + n.text(t.Y)
	case *ast.UnaryExpr:
		return t.Op.String() + n.text(t.X)
	case *ast.BasicLit:
		return t.Value
	}
	return "?"
}

func (n typeNames) function(name string, f *ast.FuncType) string {
	params, result := n.signature(f)
	var parts []string
	for _, p := range params {
		if p.Kind == detect.Variadic {
			p.Type = "..." + p.Type
		}
		parts = append(parts, p.Type)
	}
	if strings.Contains(result, ", ") {
		result = "(" + result + ")"
	}
	return strings.TrimSpace(name + "(" + strings.Join(parts, ", ") + ") " + result)
}

func (n typeNames) structure(t *ast.StructType) string {
	var parts []string
	for _, f := range list(t.Fields) {
		of, tag := n.text(f.Type), ""
		if f.Tag != nil {
			tag = " " + f.Tag.Value
		}
		for _, id := range f.Names {
			parts = append(parts, id.Name+" "+of+tag)
		}
		if len(f.Names) == 0 {
			parts = append(parts, of+tag)
		}
	}
	return "struct{" + strings.Join(parts, "; ") + "}"
}

func (n typeNames) iface(t *ast.InterfaceType) string {
	var parts []string
	methods := 0
	for _, f := range list(t.Methods) {
		methods += len(f.Names)
		if m, ok := f.Type.(*ast.FuncType); ok && len(f.Names) > 0 {
			parts = append(parts, n.function(f.Names[0].Name, m))
		} else {
			parts = append(parts, n.text(f.Type))
		}
	}
	switch {
	case parts == nil:
		return "any"
	case len(parts) == 1 && methods == 0:
		return parts[0]
	}
	slices.Sort(parts)
	return "interface{" + strings.Join(parts, "; ") + "}"
}
