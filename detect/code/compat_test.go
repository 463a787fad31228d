package code

import (
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// compare reads and compares two states of a repository.
func compare(t *testing.T, p Project, before, after map[string]string) detect.Delta {
	t.Helper()
	r := New(p)
	return r.Compare(readAll(r, before), readAll(r, after))
}

func readAll(r *Reader, files map[string]string) (units []detect.Unit) {
	for name, text := range sorted(files) {
		units = append(units, r.read(name, []byte(text)))
	}
	return units
}

// change finds the change of a symbol by its name.
func change(d detect.Delta, name string) detect.SymbolChange {
	for _, c := range d.Symbols {
		if nameOf(c.Symbol.ID) == name {
			return c
		}
	}
	return detect.SymbolChange{}
}

const (
	breaks  = detect.Breaking
	fine    = detect.Compatible
	open    = detect.CannotTell
	nothing = 99 // no change of the signature
)

// verdicts are single changes and what each means for users.
var verdicts = []struct {
	file, old, now, name string
	want                 detect.Verdict
}{
	{"a.ts", "export function f(a: string) {}", "export function f(a: string, b: number) {}", "f", breaks},
	{"a.ts", "export function f(a: string) {}", "export function f(a: string, b = 1) {}", "f", fine},
	{"a.ts", "export function f(a: string) {}", "export function f(a: string, b?: number) {}", "f", fine},
	{"a.ts", "export function f(a: string) {}", "export function f(a: string, ...b: number[]) {}", "f", fine},
	{"a.ts", "export function f(a?: string) {}", "export function f(a: string) {}", "f", breaks},
	{"a.ts", "export function f(a: string) {}", "export function f(a?: string) {}", "f", fine},
	{"a.ts", "export function f(a: string) {}", "export function f(a: string | number) {}", "f", fine},
	{"a.ts", "export function f(a: string | number) {}", "export function f(a: string) {}", "f", breaks},
	{"a.ts", "export function f(a: Money) {}", "export function f(a: Amount) {}", "f", open},
	{"a.ts", "export function f(a: string, b: string) {}", "export function f(b: string, a: string) {}", "f", breaks},
	{"a.ts", "export function f(a: string, b?: number) {}", "export function f(a: string) {}", "f", breaks},
	{"a.ts", "export function f(): string { }", "export function f(): string | null { }", "f", breaks},
	{"a.ts", "export function f(): string | null { }", "export function f(): string { }", "f", fine},
	{"a.ts", "export function f(): string { }", "export function f(): number { }", "f", breaks},
	{"a.ts", "export function f(): string[] { }", "export function f(): readonly string[] { }", "f", breaks},
	{"a.ts", "export function f(): readonly string[] { }", "export function f(): string[] { }", "f", fine},
	{"a.ts", "export function f(a: readonly string[]) {}", "export function f(a: string[]) {}", "f", breaks},
	{"a.ts", "export function f(a: any) {}", "export function f(a: never) {}", "f", breaks},
	{"a.ts", "export function f(): string { }", "export async function f(): Promise<string> { }", "f", breaks},
	{"a.ts", "export function f() { }", "export async function f() { }", "f", breaks},
	{"a.ts", "export function f<T>(a: T) { }", "export function f<T extends object>(a: T) { }", "f", breaks},
	{"a.ts", "export type F<T> = T[]", "export type F<T, U> = T[]", "F", breaks},
	{"a.ts", "export type F<T> = T[]", "export type F<T, U = 1> = Array<T>", "F", fine},
	{"a.ts", "export type F = 'a' | 'b'", "export type F = 'b' | 'a' | 'c'", "F", breaks},
	{"a.ts", "export function f() {}", "function f() {}", "f", breaks},
	{"a.ts", "function f() {}", "export function f() {}", "f", fine},
	{"a.ts", "export class A { m() {} }", "export class A { static m() {} }", "A.m", breaks},
	{"a.ts", "export class A { m() {} }", "export class A { private m() {} }", "A.m", breaks},
	{"a.ts", "export class A { m() {} }", "export class A { }", "A.m", breaks},
	{"a.ts", "export interface A { }", "export interface A { m(): void }", "A.m", breaks},
	{"a.ts", "export interface A { }", "export interface A { m?(): void }", "A.m", fine},
	{"a.py", "@dataclass\nclass A:\n  x: int", "@dataclass\nclass A:\n  x: int\n  y: int", "A.y", breaks},
	{"a.py", "@dataclasses.dataclass(frozen=True)\nclass A:\n  x: int", "@dataclasses.dataclass(frozen=True)\nclass A:\n  x: int\n  y: int = 1", "A.y", fine},
	{"a.py", "class A(BaseModel):\n  x: int", "class A(BaseModel):\n  x: int\n  y: int", "A.y", breaks},
	{"a.py", "class A(BaseModel):\n  x: int", "class A(BaseModel):\n  x: int\n  y: int | None", "A.y", open},
	{"a.py", "class A(typing.NamedTuple):\n  x: int", "class A(typing.NamedTuple):\n  x: int\n  y: int", "A.y", breaks},
	{"a.py", "class A(TypedDict):\n  x: int", "class A(TypedDict):\n  x: int\n  y: int", "A.y", breaks},
	{"a.py", "class A(TypedDict, total=False):\n  x: int", "class A(TypedDict, total=False):\n  x: int\n  y: int", "A.y", fine},
	{"a.py", "class A(TypedDict):\n  x: int", "class A(TypedDict):\n  x: int\n  y: NotRequired[int]", "A.y", fine},
	{"a.py", "class A:\n  x: int", "class A:\n  x: int\n  y: int", "A.y", fine},
	{"a.py", "@dataclass\nclass A:\n  x: int", "@dataclass\nclass A:\n  x: int\n  Y: ClassVar[int]", "A.Y", fine},
	{"a.py", "class A(ABC):\n  def m(self): ...", "class A(ABC):\n  def m(self): ...\n  @abstractmethod\n  def n(self): ...", "A.n", breaks},
	{"a.ts", "export interface A { a: string }", "export interface A { }", "A.a", breaks},
	{"a.ts", "export interface A { a: string }", "export interface A { a: number }", "A.a", breaks},
	{"a.ts", "export interface A { a?: string }", "export interface A { a: string }", "A.a", breaks},
	{"a.ts", "export interface A { }", "export interface A { a: number }", "A.a", breaks},
	{"a.ts", "export interface A { }", "export interface A { a?: number }", "A.a", fine},
	{"a.ts", "export enum E { A, B }", "export enum E { A }", "E.B", breaks},
	{"a.ts", "export enum E { A }", "export enum E { A, B }", "E.B", fine},
	{"a.ts", "export default function() { a }", "export const x = 1", "default", breaks},
	{"a.ts", "export default function f() { a }", "export function f() { a }", "default", breaks},
	{"a.ts", "export function f(a: string): void\nexport function f(a: number): void\nexport function f(a: any) {}", "export function f(a: string): void\nexport function f(a: any) {}", "f", breaks},
	{"a.ts", "export function f(a: string): void\nexport function f(a: any) {}", "export function f(a: string): void\nexport function f(a: number): void\nexport function f(a: any) {}", "f", fine},
	{"a.ts", "export class A extends B {}", "export class A {}", "A", breaks},
	{"a.ts", "class B { f(a: string) {} }\nexport class A extends B { f(a: string) {} }", "class B { f(a: string) {} }\nexport class A extends B {}", "A.f", fine},
	{"a.ts", "class B { f(a: number) {} }\nexport class A extends B { f(a: string) {} }", "class B { f(a: number) {} }\nexport class A extends B {}", "A.f", breaks},
	{"a.ts", "class C { f() {} }\nclass B extends C {}\nexport class A extends B { f() {} }", "class C { f() {} }\nclass B extends C {}\nexport class A extends B {}", "A.f", fine},
	{"a.ts", "class B { g() {} }\nexport class A extends B { f() {} }", "class B { g() {} }\nexport class A extends B {}", "A.f", breaks},
	{"a.ts", "class B { private f() {} }\nexport class A extends B { f() {} }", "class B { private f() {} }\nexport class A extends B {}", "A.f", breaks},
	{"a.ts", "interface B { f(): void }\nexport class A implements B { f() {} }", "interface B { f(): void }\nexport class A implements B {}", "A.f", breaks},
	{"a.ts", "interface B { f(): void }\nexport interface A extends B { f(): void }", "interface B { f(): void }\nexport interface A extends B {}", "A.f", fine},
	{"a.ts", "import { B } from './b'\nexport class A extends B { f() {} }", "import { B } from './b'\nexport class A extends B {}", "A.f", open},
	{"a.ts", "import { B } from 'b'\nexport class A extends B { f() {} }", "import { B } from 'b'\nexport class A extends B {}", "A.f", breaks},
	{"a.ts", "class A extends A {}\nexport class D extends A { f() {} }", "class A extends A {}\nexport class D extends A {}", "D.f", breaks},
	{"a.py", "class B:\n    def f(self, a): pass\nclass A(B):\n    def f(self, a): pass\n", "class B:\n    def f(self, a): pass\nclass A(B):\n    def g(self): pass\n", "A.f", fine},
	{"a.py", "class B:\n    def f(self, a, b): pass\nclass A(B):\n    def f(self, a): pass\n", "class B:\n    def f(self, a, b): pass\nclass A(B):\n    def g(self): pass\n", "A.f", breaks},
	{"a.py", "from .b import B\nclass A(B):\n    def f(self, a): pass\n", "from .b import B\nclass A(B):\n    def g(self): pass\n", "A.f", open},
	{"a.py", "from b import B\nclass A(B):\n    def f(self, a): pass\n", "from b import B\nclass A(B):\n    def g(self): pass\n", "A.f", breaks},
	{"A.java", "class B { public void f() {} }\npublic class A extends B { public void f() {} }", "class B { public void f() {} }\npublic class A extends B {}", "A.f", fine},
	{"a.ts", "export { a as b } from './c'", "export {}", "b", breaks},
	{"a.ts", "function a() {}\nexport { a as b }", "function a() {}", "b", breaks},
	{"a.js", "exports.f = function(a) {}", "exports.f = function(a, b) {}", "f", breaks},
	{"a.js", "module.exports = { f(a) {} }", "module.exports = { f(a, b = 1) {} }", "f", fine},
	{"a.py", "def f(a): pass", "def f(a, b): pass", "f", breaks},
	{"a.py", "def f(a): pass", "def f(a, b=1): pass", "f", fine},
	{"a.py", "def f(a): pass", "def f(b): pass", "f", breaks},
	{"a.py", "def f(a, /): pass", "def f(b, /): pass", "f", fine},
	{"a.py", "def f(a): pass", "def f(a, /): pass", "f", breaks},
	{"a.py", "def f(a): pass", "def f(*, a): pass", "f", breaks},
	{"a.py", "def f(*, a): pass", "def f(a): pass", "f", fine},
	{"a.py", "def f(a, b=1): pass", "def f(a, c=2, b=1): pass", "f", breaks},
	{"a.py", "def f(a, b=1): pass", "def f(a, b=1, *, c=2): pass", "f", fine},
	{"a.py", "def f(a, b=1): pass", "def f(a, b=1, *, c): pass", "f", breaks},
	{"a.py", "def f(a, *args): pass", "def f(a): pass", "f", breaks},
	{"a.py", "def f(a): pass", "def f(a, *args, **kw): pass", "f", fine},
	{"a.py", "def f(a, b): pass", "def f(a, **kw): pass", "f", breaks},
	{"a.py", "def f(a, b): pass", "def f(a, *args, **kw): pass", "f", fine},
	{"a.py", "def f(a, /): pass", "def f(*args): pass", "f", fine},
	{"a.py", "def f(a): pass", "def f(*args): pass", "f", breaks},
	{"a.py", "def f(*, a): pass", "def f(**kw): pass", "f", fine},
	{"a.py", "def f(*args): pass", "def f(**args): pass", "f", breaks},
	{"a.py", "def f(a, b=1): pass", "def f(a, b): pass", "f", breaks},
	{"a.py", "def f(): pass", "async def f(): pass", "f", breaks},
	{"a.py", "def f(a: Optional[int]): pass", "def f(a: int | None): pass", "f", nothing},
	{"a.py", "def f(a: int): pass", "def f(a: int | str): pass", "f", fine},
	{"a.py", "class A:\n  def m(self): pass", "class A:\n  @staticmethod\n  def m(self): pass", "A.m", breaks},
	{"a.py", "class A:\n  x: int", "class A:\n  pass", "A.x", breaks},
	{"a.py", "__all__ = ['f']\ndef f(): pass", "__all__ = []\ndef f(): pass", "f", breaks},
	{"a.py", "class A(B): pass", "class A: pass", "A", breaks},
	{"a.go", "package p\nfunc F(a int) {}", "package p\nfunc F(b int) {}", "F", fine},
	{"a.go", "package p\nfunc F(a int) {}", "package p\nfunc F(a int, b int) {}", "F", breaks},
	{"a.go", "package p\nfunc F(a, b int) {}", "package p\nfunc F(a int, b int) {}", "F", nothing},
	{"a.go", "package p\nfunc F(a int) {}", "package p\nfunc F(a ...int) {}", "F", breaks},
	{"a.go", "package p\nfunc F() int {}", "package p\nfunc F() (int, error) {}", "F", breaks},
	{"a.go", "package p\nfunc F() interface{} {}", "package p\nfunc F() any {}", "F", fine},
	{"a.go", "package p\ntype T struct{}\nfunc (T) M() {}", "package p\ntype T struct{}\nfunc (*T) M() {}", "T.M", breaks},
	{"a.go", "package p\ntype T struct{}\nfunc (*T) M() {}", "package p\ntype T struct{}\nfunc (T) M() {}", "T.M", fine},
	{"a.go", "package p\ntype I interface{}", "package p\ntype I interface{ M() }", "I.M", breaks},
	{"a.go", "package p\ntype I interface{ x() }", "package p\ntype I interface{ x(); M() }", "I.M", fine},
	{"a.go", "package p\ntype T struct{ A int }", "package p\ntype T struct{ A string }", "T.A", breaks},
	{"a.go", "package p\ntype T struct{ A int }", "package p\ntype T struct{ }", "T.A", breaks},
	{"a.go", "package p\ntype T struct{ }", "package p\ntype T struct{ A int }", "T.A", fine},
	{"a.go", "package p\ntype T struct{ a int }", "package p\ntype T struct{ }", "T.a", breaks},
	{"a.go", "package p\nfunc F[T any]() {}", "package p\nfunc F[T any, U any]() {}", "F", breaks},
	{"a.go", "package p\nfunc F[T any](T) {}", "package p\nfunc F[U any](U) {}", "F", fine},
	{"a.rs", "pub fn f(a: i32) {}", "pub fn f(a: i32, b: i32) {}", "f", breaks},
	{"a.rs", "pub fn f(a: i32) {}", "pub fn f(b: i32) {}", "f", fine},
	{"a.rs", "pub fn f() {}", "pub(crate) fn f() {}", "f", breaks},
	{"a.rs", "pub fn f() {}", "pub async fn f() {}", "f", breaks},
	{"a.rs", "pub fn f() {}", "pub unsafe fn f() {}", "f", breaks},
	{"a.rs", "pub fn f() -> i32 { 1 }", "pub fn f() -> i64 { 1 }", "f", breaks},
	{"a.rs", "pub struct S; impl S { pub fn m(&self) {} }", "pub struct S; impl S { pub fn m(&mut self) {} }", "S.m", breaks},
	{"a.rs", "pub struct S; impl S { pub fn m(&mut self) {} }", "pub struct S; impl S { pub fn m(&self) {} }", "S.m", fine},
	{"a.rs", "pub trait T {}", "pub trait T { fn m(&self); }", "T.m", breaks},
	{"a.rs", "pub trait T {}", "pub trait T { fn m(&self) {} }", "T.m", fine},
	{"a.rs", "pub enum E { A }", "pub enum E { A, B }", "E.B", breaks},
	{"a.rs", "#[non_exhaustive]\npub enum E { A }", "#[non_exhaustive]\npub enum E { A, B }", "E.B", fine},
	{"a.rs", "pub struct S { pub a: i32 }", "pub struct S { pub a: i64 }", "S.a", breaks},
	{"A.java", "public class A { public void m(int a) {} }", "public class A { public void m(long a) {} }", "A.m", breaks},
	{"A.java", "public class A { public void m(int a) {} }", "public class A { public void m(int a) {} public void m(long a) {} }", "A.m", fine},
	{"A.java", "public class A { public void m() {} }", "public class A { void m() {} }", "A.m", breaks},
	{"A.java", "public class A { public void m() {} }", "public class A { public static void m() {} }", "A.m", breaks},
	{"A.java", "public class A { public void m() {} }", "public class A { public void m() throws E {} }", "A.m", breaks},
	{"A.java", "public class A { public void m(int... a) {} }", "public class A { public void m(int a) {} }", "A.m", breaks},
	{"A.java", "public class A {}", "public final class A {}", "A", breaks},
	{"A.java", "public interface A {}", "public interface A { void m(); }", "A.m", breaks},
	{"A.java", "public interface A {}", "public interface A { default void m() {} }", "A.m", fine},
	{"A.java", "public enum A { X, Y }", "public enum A { X }", "A.Y", breaks},
	{"A.java", "public record A(int a) {}", "public record A(int a, int b) {}", "A", breaks},
	{"a.go", "package p\nconst C = 1", "package p\nconst C = 2", "C", breaks},
	{"a.go", "package p\nimport \"a/z\"\nfunc F(z.B) {}", "package p\nimport \"a/v2/z\"\nfunc F(z.B) {}", "F", open},
	{"a.go", "package p\nimport \"a/z\"\ntype T struct { F func() []z.B }", "package p\nimport z \"b\"\ntype T struct { F func() []z.B }", "T.F", open},
	{"a.go", "package p\nimport \"a/z\"\nfunc F(z.B) {}", "package p\nimport (\"a/y\"; z \"a/z\")\nfunc F(z.B) { y.Y() }", "F", nothing},
	{"a.go", "package p\nimport \"a/z\"\nfunc F() { z.B() }", "package p\nimport \"b/z\"\nfunc F() { z.B() }", "F", nothing},
	{"a.go", "package p\ntype T [20]byte", "package p\nimport \"a/z\"\ntype T [z.Size]byte", "T", open},
	{"a.go", "package p\nconst N = 20\ntype T [20]byte", "package p\nconst N = 20\ntype T [N]byte", "T", open},
	{"a.go", "package p\ntype T [20]byte", "package p\ntype T [21]byte", "T", breaks},
	{"a.go", "package p\nimport \"a/z\"\ntype T map[z.K]int", "package p\nimport \"a/z\"\ntype T map[z.L]int", "T", breaks},
	{"a.go", "package p\nimport \"a/z\"\nfunc F(z.L[z.A]) {}", "package p\nimport \"a/z\"\nfunc F(z.L[z.B]) {}", "F", breaks},
	{"a.tsx", "interface Props { a: string }\nexport function C(p: Props) {}", "interface Props { a: string; b: string }\nexport function C(p: Props) {}", "C", breaks},
	{"a.tsx", "interface Props { a: string }\nexport function C(p: Props) {}", "interface Props { a: string; b?: string }\nexport function C(p: Props) {}", "C", fine},
	{"a.tsx", "interface Props { a: string }\nexport function C({ a }: Props) {}", "interface Props { a: string | number }\nexport function C({ a }: Props) {}", "C", fine},
	{"a.tsx", "interface Props { a: string }\nfunction C(p: Props) {}\nexport default C", "interface Props { }\nfunction C(p: Props) {}\nexport default C", "C", breaks},
	{"a.tsx", "interface Props { a: string }\nfunction C(p: Props) {}", "interface Props { a: string; b: string }\nfunction C(p: Props) {}", "C", nothing},
	{"a.tsx", "interface Props { a: string }\ninterface Q { a: string }\nexport function C(p: Q) {}", "interface Props { a: string; b: string }\ninterface Q { a: string }\nexport function C(p: Q) {}", "C", nothing},
	{"a.tsx", "type Props = { a: string }\nexport const C: React.FC<Props> = (p) => null", "type Props = { a: string; b: string }\nexport const C: React.FC<Props> = (p) => null", "C", breaks},
	{"a.tsx", "type Props = { a: string }\nexport const C: FC<Props> = memo((p) => null)", "type Props = { a: string; b: string }\nexport const C: FC<Props> = memo((p) => null)", "C", breaks},
	{"a.tsx", "type Props = { a: string }\nexport const C: FC<Props> = (p) => null", "type Props = { a: string; b?: string }\nexport const C: FC<Props> = (p, x) => null", "C", fine},
	{"a.tsx", "export const C: FC<{ a: string }> = (p) => null", "export const C: FC<{ a: string; b: string }> = (p) => null", "C", breaks},
	{"a.tsx", "export const C: FC<{ a: string }> = (p) => null", "export const C: FC<{ a: string; b?: string }> = (p) => null", "C", fine},
	{"a.ts", "type P = { a: string }\nexport function f(p: Partial<P>) {}", "type P = { a: string; b: string }\nexport function f(p: Partial<P>) {}", "f", open},
	{"a.ts", "type Size = 's' | 'm'\nexport function f(p: Size) {}", "type Size = 's'\nexport function f(p: Size) {}", "f", breaks},
	{"a.ts", "type Size = 's'\nexport function f(p: Size) {}", "type Size = 's' | 'm'\nexport function f(p: Size) {}", "f", fine},
	{"a.ts", "type Size = 's'\nexport function f(): Size {}", "type Size = 's' | 'm'\nexport function f(): Size {}", "f", breaks},
	{"a.ts", "type R = { a: string }\nexport async function f(): Promise<R> {}", "type R = { a: string; b: string }\nexport async function f(): Promise<R> {}", "f", fine},
	{"a.ts", "type R = { a: string }\nexport async function f(): Promise<R> {}", "type R = { }\nexport async function f(): Promise<R> {}", "f", breaks},
	{"a.ts", "type I = { a: string }\ntype P = { i: I }\nexport function f(p: P) {}", "type I = { a: string; b: string }\ntype P = { i: I }\nexport function f(p: P) {}", "f", open},
	{"a.ts", "type P = { a: string } & Q\nexport function f(p: P) {}", "type P = { a: string; b: string } & Q\nexport function f(p: P) {}", "f", open},
	{"a.ts", "export const h: Handler = (a) => 1", "export const h: Handler = (a, b) => 1", "h", nothing},
	{"a.ts", "export const h: Handler = (a) => 1", "export const h: Other = (a) => 1", "h", open},
	{"a.ts", "export const h = (a) => 1", "export const h: Handler = (a) => 1", "h", open},
	{"a.ts", "export const h: (a: string) => void = (a) => 1", "export const h: (a: string, b: string) => void = (a) => 1", "h", breaks},
	{"a.ts", "export const A = { x: 1, y: 2 } as const", "export const A = { x: 1 } as const", "A.y", breaks},
	{"a.ts", "export const A = Object.freeze({ x: 1, 'y-z': 2 })", "export const A = Object.freeze({ x: 1 })", "A.y-z", breaks},
	{"a.ts", "export const A = { x: { y: 1, z: 2 } } satisfies B", "export const A = { x: { y: 1 } } satisfies B", "A.x.z", breaks},
	{"a.ts", "export const A = { x: 1 } as const", "export const A = { x: 1, y: 2 } as const", "A.y", fine},
	{"a.ts", "export const A = { x: 1, y: 2 } as const", "export const A = { x: 1, ...rest } as const", "A.y", open},
	{"a.ts", "export const A = { x: 1, y: 2 } as const", "export const A = build()", "A.y", open},
	{"a.ts", "export const A = { x: 1, y: 2 } as const", "export const A = { x: 1, y: 3 } as const", "A.y", nothing},
	{"a.ts", "export const A: Record<string, number> = { x: 1, y: 2 }", "export const A: Record<string, number> = { x: 1 }", "A.y", nothing},
	{"a.ts", "export const A = { x: () => 1 }", "export const A = { x: run }", "A.x", open},
	{"a.ts", "export class A { get x() { return 1 } set x(v) {} }", "export class A { get x() { return 1 } }", "A.x", breaks},
	{"a.ts", "export class A { get x() { return 1 } }", "export class A { get x() { return 1 } set x(v) {} }", "A.x", fine},
	{"a.ts", "export enum E { A, B }", "export enum E { A, X, B }", "E.B", breaks},
	{"a.ts", "export enum E { A, B }", "export enum E { A, B, X }", "E.B", nothing},
	{"a.ts", "export enum E { A = 5, B }", "export enum E { B = 6, A = 5 }", "E.B", nothing},
	{"a.ts", "export enum E { A = start(), B }", "export enum E { A = start(), X, B }", "E.B", open},
	{"a.ts", "export enum E { A = 'a', B = 'b' }", "export enum E { A = 'a', X = 'x', B = 'b' }", "E.B", nothing},
	{"a.go", "package p\nconst (\nA = iota\nB\n)", "package p\nconst (\nA = iota\nX\nB\n)", "B", breaks},
	{"a.go", "package p\ntype T int\nconst (\nA T = 1 << iota\nB\n)", "package p\ntype T int\nconst (\nA T = 1 << (iota + 1)\nB\n)", "B", breaks},
	{"a.go", "package p\nconst (\nA = iota\nB\n)", "package p\nconst (\nA = iota\nB\nX\n)", "B", nothing},
	{"a.go", "package p\nconst (\nA = iota\nX\nB\n)", "package p\nconst (\nA = iota\n_\nB\n)", "B", nothing},
	{"a.go", "package p\nconst (\nA = iota * step\nB\n)", "package p\nconst (\nA = iota * step\nX\nB\n)", "B", open},
	{"a.go", "package p\nconst (\nA = 1\nB\n)", "package p\nconst (\nA = 2\nB\n)", "B", breaks},
	{"a.js", "module.exports = class { m() {} n() {} }", "module.exports = class { m() {} }", "default.n", breaks},
	{"a.js", "exports.X = class { m() {} }", "exports.X = class { m(a) {} }", "X.m", breaks},
	{"a.js", "class K { m() {} n() {} }\nmodule.exports = { K }", "class K { m() {} }\nmodule.exports = { K }", "K.n", breaks},
	{"a.js", "exports.X = class { m() {} }", "exports.X = class { m() {} n() {} }", "X.n", fine},
	{"a.py", "class A:\n  def __init__(self):\n    self.x = 1\n    self.y: int = 2", "class A:\n  def __init__(self):\n    self.x = 1", "A.y", breaks},
	{"a.py", "class A:\n  def __init__(self):\n    self.x = 1", "class A:\n  def __init__(self):\n    self.x = 1\n    self.y = 2", "A.y", fine},
	{"a.py", "class A:\n  def __init__(self):\n    self.x = 1", "class A:\n  def __init__(self):\n    self._set()\n  def _set(self):\n    self.x = 2", "A.x", nothing},
	{"a.py", "class A:\n  def __init__(self):\n    self.x = 1", "class A(B):\n  def __init__(self):\n    super().__init__()", "A.x", open},
	{"a.py", "class A:\n  def __init__(self, x):\n    self.x = x", "class A:\n  def __init__(self, x):\n    setattr(self, 'x', x)", "A.x", open},
	{"a.py", "class A:\n  def __init__(self):\n    self.x: int = 1", "class A:\n  def __init__(self):\n    self.x: str = ''", "A.x", breaks},
	{"a.py", "class A:\n  x = 1", "class A:\n  def __init__(self):\n    self.x = 1", "A.x", open},
	{"a.py", "def f():\n  return 1", "def f():\n  yield 1", "f", breaks},
	{"a.py", "def f():\n  yield 1", "def f():\n  return [1]", "f", breaks},
	{"a.py", "def f():\n  return 1", "def f():\n  def g():\n    yield 1\n  return 1", "f", nothing},
	{"a.py", "def f() -> Iterator[int]:\n  return iter([1])", "def f() -> Iterator[int]:\n  yield 1", "f", fine},
	{"a.py", "def f():\n  return (x for x in y)", "def f():\n  yield from y", "f", nothing},
	{"a_linux.go", "package p\nfunc F() {}", "package p", "F", open},
	{"a.go", "//go:build unix\n\npackage p\nfunc F() {}", "//go:build unix\n\npackage p", "F", open},
	{"a_linux.go", "package p\nfunc F(a int) {}", "package p\nfunc F(a string) {}", "F", breaks},
	{"a.go", "//go:build unix\n\npackage p\nfunc F() {}", "package p\nfunc F() {}", "F", fine},
	{"a.go", "package p\nfunc F() {}", "//go:build unix\n\npackage p\nfunc F() {}", "F", open},
	{"a_linux.go", "package p\ntype T struct { A int }", "package p\ntype T struct {}", "T.A", breaks},
	{"linux.go", "package p\nfunc F() {}", "package p", "F", breaks},
}

func TestEveryKindOfChangeHasItsVerdict(t *testing.T) { // C4
	for _, c := range verdicts {
		d := compare(t, Project{}, map[string]string{c.file: c.old}, map[string]string{c.file: c.now})
		got := change(d, c.name)
		switch {
		case c.want == nothing:
			if got.Change > detect.Body {
				t.Errorf("%s\n=> %s\n%s: %v %v, want no change of its signature", c.old, c.now, c.name, got.Change, got.Why)
			}
		case got.Change == 0 || got.Verdict != c.want:
			t.Errorf("%s\n=> %s\n%s: change %v, verdict %v (%s), want %v", c.old, c.now, c.name, got.Change, got.Verdict,
				strings.Join(got.Why, "; "), c.want)
		}
	}
}
