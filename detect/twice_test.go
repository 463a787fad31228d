package detect

import (
	"fmt"
	"strings"
	"testing"
)

// shopWork is work of a team on one shop: sides with the same number do the same. Changed and added name symbols; nobody names
// an issue, and no code is alike.
var shopWork = []struct {
	work           int
	task           string
	changed, added string
}{
	{1, "Reject refunds of a negative amount", "refund.ts#issueRefund", ""},
	{1, "Refund must fail when the amount is negative", "refund.ts#issueRefund", ""},
	{0, "Refund in the currency of the order", "refund.ts#issueRefund", "refund.ts#orderCurrency"},
	{0, "Log who issued a refund", "refund.ts#issueRefund", "audit.ts#logRefund"},
	{2, "Cache exchange rates for an hour", "rates.ts#fetchRates", "rates.ts#rateCache"},
	{2, "Keep exchange rates in a cache so that we do not fetch them each time", "rates.ts#fetchRates", "cache.ts#CachedRates"},
	{0, "Retry fetching exchange rates when the service is down", "rates.ts#fetchRates", "retry.ts#withRetry"},
	{3, "Export invoices as CSV", "", "export.ts#invoicesToCsv export.ts#csvLine"},
	{3, "CSV export of invoices for accountants", "", "csv.ts#invoicesToCsv csv.ts#escapeCell"},
	{0, "Export orders as PDF", "", "pdf.ts#ordersToPdf"},
	{4, "Fix crash when the cart is empty at checkout", "checkout.ts#checkout checkout.ts#total", ""},
	{4, "Checkout crashes with an empty cart", "checkout.ts#checkout", ""},
	{0, "Apply vouchers at checkout", "checkout.ts#checkout checkout.ts#total", "voucher.ts#applyVoucher"},
	{5, "Rate limit login attempts per address", "login.ts#login", "limit.ts#RateLimiter"},
	{5, "Limit how often one address can try to log in", "login.ts#login", "throttle.ts#LoginThrottle"},
	{0, "Log in with a passkey", "login.ts#login", "passkey.ts#verifyPasskey"},
	{6, "Sort search results by price", "search.ts#search", "search.ts#byPrice"},
	{6, "Search: let people order the results by price", "search.ts#search", "sort.ts#byPrice"},
	{0, "Search ignores accents", "search.ts#search", "text.ts#foldAccents"},
	{7, "Send a mail when an order ships", "order.ts#ship", "mail.ts#sendShipped"},
	{7, "Notify customers by email once their order was shipped", "order.ts#ship", "notify.ts#orderShipped"},
	{0, "Ship orders from two stores", "order.ts#ship order.ts#reserve", "store.ts#nearest"},
	{8, "Show dates in the time zone of the user", "date.ts#formatDate", ""},
	{8, "formatDate should respect the user's time zone", "date.ts#formatDate", ""},
	{0, "Parse dates without a year", "date.ts#parseDate", ""},
	{9, "Delete accounts after two years without a login", "", "cleanup.ts#deleteIdleAccounts"},
	{9, "Remove idle accounts", "", "accounts.ts#purgeIdle"},
	{10, "Paginate the list of products", "products.ts#listProducts", "page.ts#Page"},
	{10, "Add pages to the product list", "products.ts#listProducts", "products.ts#pageOf"},
	{0, "Filter the product list by brand", "products.ts#listProducts", "filter.ts#byBrand"},
}

func TestWorkOfATeamThatIsDoneTwice(t *testing.T) { // C16
	var all []*Digest
	number := map[string]int{}
	for i, w := range shopWork {
		d := jordan()
		d.Side.Ref, d.Side.Task = fmt.Sprint("INT-", 100+i), w.task
		number[d.Side.Ref] = w.work
		for how, names := range map[Change]string{Body: w.changed, Added: w.added} {
			for name := range strings.FieldsSeq(names) {
				d.Symbols = append(d.Symbols, SymbolChange{Symbol: Symbol{ID: "sym:ts:" + name, Kind: Function}, Change: how})
				path, _, _ := strings.Cut(name, "#")
				d.Files = append(d.Files, edited(path, fmt.Sprint(i)))
			}
		}
		d.Normalize()
		all = append(all, d)
	}
	right, wrong := 0, 0
	for _, f := range find(t, DefaultPolicy(), all...).Findings {
		switch n := number[f.Sides[0]]; {
		case f.Kind != DuplicateWork:
		case n > 0 && n == number[f.Sides[1]]:
			right++
		default:
			wrong++
			t.Log(f.Sentence)
		}
	}
	t.Logf("%d of 10 found, %d others said", right, wrong)
	if right < 4 || 5*right < 4*(right+wrong) {
		t.Error("recall below 0.4 or precision below 0.8")
	}
}
