package demo

// The repository of the day: a small shop with a policy. Kim owns it; the migrations are Kim's alone.
var shop = []version{
	{path: ".parley/policy.yaml", text: "protected_paths:\n  - path: db/migrations/**\n    owners: [user:kim@example.com]\n" +
		"members:\n  user:kim@example.com: owner\n  user:maya@example.com: member\n"},
	{path: "README.md", text: "# Shop\n\nA shop that sells tea.\n\n## Billing\n\nOrders are billed once.\n\n## Web\n\nThe shop's pages.\n\n## Help\n\nAsk Kim.\n"},
	{path: "src/billing/refund.ts", text: refundWas},
	{path: "src/billing/order.ts", text: "export function load(id: string): { id: string; total: number } {\n  return { id, total: 0 }\n}\n"},
	{path: "config/shop.ini", text: "[shop]\nname=Tea\ncurrency=EUR\nrefunds=none\n"},
	{path: "db/schema.prisma", text: "model Order {\n  id    String @id\n  total Int\n}\n"},
	{path: "db/migrations/0041_orders.sql", text: "create table orders (id text primary key, total integer);\n"},
}

const (
	refundWas = "import { load } from './order'\n\nexport function issueRefund(orderId: string): number {\n  const order = load(orderId)\n  return order.total\n}\n\n" +
		"export function refundable(orderId: string): boolean {\n  return load(orderId).total > 0\n}\n"
	// refundPart changes what issueRefund is called with.
	refundPart = "import { load } from './order'\n\nexport function issueRefund(orderId: string, amount: number): number {\n  const order = load(orderId)\n  return Math.min(amount, order.total)\n}\n\n" +
		"export function refundable(orderId: string): boolean {\n  return load(orderId).total > 0\n}\n"
	// refundFee changes what issueRefund does.
	refundFee = "import { load } from './order'\n\nexport function issueRefund(orderId: string): number {\n  const order = load(orderId)\n  const fee = 1\n  return order.total - fee\n}\n\n" +
		"export function refundable(orderId: string): boolean {\n  return load(orderId).total > 0\n}\n"
	webRefund = "import { issueRefund } from '../../src/billing/refund'\n\nexport function refundButton(orderId: string): number {\n  return issueRefund(orderId)\n}\n"

	readmeTop = "# Shop of teas\n\nA shop that sells tea.\n\n## Billing\n\nOrders are billed once.\n\n## Web\n\nThe shop's pages.\n\n## Help\n\nAsk Kim.\n"
	readmeEnd = "# Shop\n\nA shop that sells tea.\n\n## Billing\n\nOrders are billed once.\n\n## Web\n\nThe shop's pages.\n\n## Help\n\nAsk Kim or Maya.\n"

	configPartial = "[shop]\nname=Tea\ncurrency=EUR\nrefunds=partial\n"
	configFull    = "[shop]\nname=Tea\ncurrency=EUR\nrefunds=full\n"

	schemaLedger = "model Order {\n  id    String @id\n  total Int\n}\n\nmodel Entry {\n  id     String @id\n  amount Int\n}\n"
	schemaCents  = "model Order {\n  id    String @id\n  total Int\n  cents Int\n}\n"

	migration = "alter table orders add column refunded integer;\n"

	// money and cents do the same, in different files and words that are nearly the same.
	money = "export function roundToCents(amount: number): number {\n  const scaled = amount * 100\n  const rounded = Math.round(scaled)\n  return rounded / 100\n}\n\n" +
		"export function splitEvenly(total: number, parts: number): number[] {\n  const share = Math.floor(total / parts)\n  const rest = total - share * parts\n" +
		"  const shares: number[] = []\n  for (let i = 0; i < parts; i++) {\n    shares.push(i < rest ? share + 1 : share)\n  }\n  return shares\n}\n\n" +
		"export function formatMoney(amount: number, currency: string): string {\n  const value = roundToCents(amount).toFixed(2)\n  return currency + ' ' + value\n}\n"
	cents = "// Amounts of money.\n" + money
)
