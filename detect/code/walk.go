package code

/*
#include <stdbool.h>
#include <stdint.h>

// What the walk needs of tree-sitter's api.h, as the version in go.mod has it.
typedef struct {
	uint32_t context[4];
	const void *id;
	const void *tree;
} TSNode;

typedef struct {
	const void *tree;
	const void *id;
	uint32_t context[3];
} TSTreeCursor;

TSTreeCursor ts_tree_cursor_new(TSNode);
void ts_tree_cursor_delete(TSTreeCursor *);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);
uint16_t ts_node_symbol(TSNode);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
uint32_t ts_node_descendant_count(TSNode);
bool ts_node_is_missing(TSNode);

// The functions by their addresses, which Go hands over: cgo links the C code of each package once by itself, where
// nothing may be called that is another package's.
typedef struct {
	TSTreeCursor (*open)(TSNode);
	void (*close)(TSTreeCursor *);
	TSNode (*at)(const TSTreeCursor *);
	uint16_t (*field)(const TSTreeCursor *);
	bool (*down)(TSTreeCursor *), (*right)(TSTreeCursor *), (*up)(TSTreeCursor *);
	uint16_t (*symbol)(TSNode);
	uint32_t (*start)(TSNode), (*end)(TSNode), (*count)(TSNode);
	bool (*missing)(TSNode);
} sitter;

// A node as Go has it.
typedef struct {
	uint32_t start, end;
	int32_t parent, next;
	uint16_t kind;
	uint8_t field;
	bool missing;
} flat;

static uint32_t count(const sitter *ts, TSNode root) { return ts->count(root); }

enum { tooDeep = -1, tooMany = -2 };

// Walks a tree into preorder and answers how many nodes that are, or what there is too much of. Kinds that are
// leaves are not entered.
static int32_t walk(const sitter *ts, TSNode root, bool broken, const bool *leaves, uint32_t kinds, int32_t deep, flat *nodes, int32_t most) {
	TSTreeCursor cursor = ts->open(root);
	int32_t len = 0, depth = 1, parent = -1;
	while (len < most) {
		TSNode from = ts->at(&cursor);
		flat *n = &nodes[len];
		*n = (flat){ts->start(from), ts->end(from), parent, len + 1, ts->symbol(from), (uint8_t)ts->field(&cursor), broken && ts->missing(from)};
		if (depth > deep) {
			len = tooDeep;
			goto done;
		}
		if ((n->kind >= kinds || !leaves[n->kind]) && ts->down(&cursor)) {
			parent = len++;
			depth++;
			continue;
		}
		for (len++; !ts->right(&cursor); depth--) {
			if (parent < 0 || !ts->up(&cursor)) {
				goto done;
			}
			nodes[parent].next = len;
			parent = nodes[parent].parent;
		}
	}
	len = tooMany;
done:
	ts->close(&cursor);
	return len;
}
*/
import "C"

import (
	"runtime"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// functions are those of the binding's own copy of tree-sitter.
var functions = C.sitter{
	open: (*[0]byte)(C.ts_tree_cursor_new), close: (*[0]byte)(C.ts_tree_cursor_delete),
	at: (*[0]byte)(C.ts_tree_cursor_current_node), field: (*[0]byte)(C.ts_tree_cursor_current_field_id),
	down: (*[0]byte)(C.ts_tree_cursor_goto_first_child), right: (*[0]byte)(C.ts_tree_cursor_goto_next_sibling),
	up: (*[0]byte)(C.ts_tree_cursor_goto_parent), symbol: (*[0]byte)(C.ts_node_symbol),
	start: (*[0]byte)(C.ts_node_start_byte), end: (*[0]byte)(C.ts_node_end_byte),
	count: (*[0]byte)(C.ts_node_descendant_count), missing: (*[0]byte)(C.ts_node_is_missing),
}

// walk is a tree's nodes in preorder, as tree-sitter has them, in one call into C. Kinds that are leaves are not
// entered; of a tree that is too deep not all nodes are there.
func walk(root *sitter.Node, broken bool, leaves []bool) (nodes []node, deep bool) {
	defer runtime.KeepAlive(root)
	from := *(*C.TSNode)(unsafe.Pointer(root))
	if uintptr(from.id) != root.ID() {
		panic("the binding lays out its nodes in another way")
	}
	for most := C.count(&functions, from); ; most *= 2 {
		nodes = make([]node, most)
		n := C.walk(&functions, from, C.bool(broken), (*C.bool)(unsafe.SliceData(leaves)), C.uint32_t(len(leaves)),
			depthMax, (*C.flat)(unsafe.Pointer(unsafe.SliceData(nodes))), C.int32_t(most))
		if n != C.tooMany {
			return nodes[:max(n, 0)], n == C.tooDeep
		}
	}
}
