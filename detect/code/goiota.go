package code

import (
	"go/ast"
	"go/constant"
	"go/token"
	"strconv"
)

// constGroup declares a group of constants of Go: who writes neither type nor value has those of the line before, and iota counts lines.
func (g *goScan) constGroup(d *ast.GenDecl) {
	var last *ast.ValueSpec
	for i, spec := range d.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if last == nil || spec.Type != nil || len(spec.Values) > 0 {
			last = spec
		}
		g.valueSpec(d, spec, last, i)
	}
}

// constantText is the value of a constant, in the line of a group that iota says. What depends on other names than iota begins
// with ?, since nobody knows its number. It is not ok if the value is no number of iota and not made of literals alone.
func constantText(e ast.Expr, iota int) (text string, ok bool) {
	if !names(e, "iota") {
		return literal(e)
	}
	if v := evaluated(e, iota); v.Kind() != constant.Unknown {
		return v.ExactString(), true
	}
	return "?iota" + strconv.Itoa(iota), true
}

// literal is the text of a value that is made of literals alone.
func literal(e ast.Expr) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		return x.Value, true
	case *ast.ParenExpr:
		return literal(x.X)
	case *ast.UnaryExpr:
		text, ok = literal(x.X)
		return x.Op.String() + text, ok
	case *ast.BinaryExpr:
		left, ok := literal(x.X)
		right, also := literal(x.Y)
		return left + x.Op.String() + right, ok && also
	case *ast.CallExpr:
		f, named := x.Fun.(*ast.Ident)
		if !named || f.Name != "complex" || len(x.Args) != 2 {
			return "", false
		}
		re, ok := literal(x.Args[0])
		im, also := literal(x.Args[1])
		return "complex(" + re + "," + im + ")", ok && also
	}
	return "", false
}

// names reports whether an expression has a name in it.
func names(e ast.Expr, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// shiftMax bounds the numbers that shifts make.
const shiftMax = 512

// evaluated works out an expression of literals and iota, as far as it is one.
func evaluated(e ast.Expr, iota int) constant.Value {
	switch x := e.(type) {
	case *ast.Ident:
		if x.Name == "iota" {
			return constant.MakeInt64(int64(iota))
		}
	case *ast.BasicLit:
		return constant.MakeFromLiteral(x.Value, x.Kind, 0)
	case *ast.ParenExpr:
		return evaluated(x.X, iota)
	case *ast.CallExpr: // T(iota)
		if len(x.Args) == 1 {
			return evaluated(x.Args[0], iota)
		}
	case *ast.UnaryExpr:
		if v := evaluated(x.X, iota); v.Kind() == constant.Int && (x.Op == token.SUB || x.Op == token.ADD) {
			return constant.UnaryOp(x.Op, v, 0)
		}
	case *ast.BinaryExpr:
		return worked(evaluated(x.X, iota), x.Op, evaluated(x.Y, iota))
	}
	return constant.MakeUnknown()
}

// worked is what an operation makes of two whole numbers.
func worked(a constant.Value, op token.Token, b constant.Value) constant.Value {
	if a.Kind() != constant.Int || b.Kind() != constant.Int {
		return constant.MakeUnknown()
	}
	switch op {
	case token.SHL, token.SHR:
		if n, ok := constant.Uint64Val(b); ok && n <= shiftMax {
			return constant.Shift(a, op, uint(n))
		}
	case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR, token.AND_NOT:
		return constant.BinaryOp(a, op, b)
	}
	return constant.MakeUnknown()
}
