//! What a rule may be: names, functions, depth, and the worst cost on the largest facts, all judged on its tree before
//! it ever runs. Memory is bounded by what may be built: no new lists and no `+` inside a loop, few outside.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, MapExpr, operators};

use super::RuleError;
use super::facts::{ITEMS_MAX, NAMES};

/// Levels of the tree: a rule that people can read has fewer than ten; a level takes about 10 KiB of stack in a
/// debug build.
pub const DEPTH_MAX: usize = 64;
/// Loops inside a loop: one.
pub const NESTING_MAX: usize = 1;
/// Nodes evaluated at worst. Two loops of 256 over a comparison are about a million; a node took 0.1 µs in a
/// debug build.
pub const STEPS_MAX: u64 = 2_000_000;
/// `+` outside of loops: each may double what a loop runs over.
const ADDITIONS_MAX: u64 = 4;
/// Computed members of lists and maps in the rule: each may be a copy of all facts.
const BUILT_MAX: usize = 32;
/// Comparing two values that may be lists or objects counts as this many nodes, `in` as one for each item.
const COMPARE_STEPS: u64 = 8;

/// Functions of the library that rules may call, beside operators. `matches` is not compiled in; conversions of time and
/// bytes have no use over JSON.
const FUNCTIONS: [&str; 9] = ["size", "contains", "startsWith", "endsWith", "int", "uint", "double", "string", "bool"];

const OPERATORS: [&str; 18] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::IN,
];

/// The accumulator of a loop, in the tree that the library's macros make. A rule cannot write this name.
const ACCUMULATOR: &str = "@result";

/// Checks a rule's tree and returns the fact names it uses.
pub(super) fn check(expression: &IdedExpr) -> Result<Vec<&'static str>, RuleError> {
    let mut walk = Walk::default();
    let steps = walk.steps(expression)?;
    if steps > STEPS_MAX {
        return Err(RuleError::TooCostly { steps });
    }
    Ok(walk.names)
}

#[derive(Default)]
struct Walk<'a> {
    names: Vec<&'static str>,
    /// Variables of the loops around the present node.
    variables: Vec<&'a str>,
    depth: usize,
    additions: u64,
    built: usize,
}

impl<'a> Walk<'a> {
    /// Returns how many nodes are evaluated for `node` at worst.
    fn steps(&mut self, node: &'a IdedExpr) -> Result<u64, RuleError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(RuleError::TooDeep);
        }
        let below = match &node.expr {
            Expr::Literal(_) => Ok(0),
            Expr::Ident(name) => self.name(name).map(|()| 0),
            Expr::Select(select) => self.steps(&select.operand),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(body) => self.comprehension(body),
            Expr::Struct(_) | Expr::Unspecified => Err(not_allowed("types have no place in a rule")),
        };
        self.depth -= 1;
        Ok(below?.saturating_add(1))
    }

    fn all(&mut self, nodes: impl IntoIterator<Item = &'a IdedExpr>) -> Result<u64, RuleError> {
        nodes.into_iter().try_fold(0, |sum: u64, node| Ok(sum.saturating_add(self.steps(node)?)))
    }

    fn name(&mut self, name: &str) -> Result<(), RuleError> {
        if name == ACCUMULATOR || self.variables.contains(&name) {
            return Ok(());
        }
        let known = NAMES.into_iter().find(|known| *known == name);
        let known = known.ok_or_else(|| RuleError::NameUnknown { name: name.to_owned() })?;
        if !self.names.contains(&known) {
            self.names.push(known);
        }
        Ok(())
    }

    fn call(&mut self, call: &'a CallExpr) -> Result<u64, RuleError> {
        let name = call.func_name.as_str();
        if name == operators::ADD {
            return self.addition(call);
        }
        if !OPERATORS.contains(&name) && !FUNCTIONS.contains(&name) && name != operators::NOT_STRICTLY_FALSE {
            return Err(RuleError::FunctionUnknown { name: name.to_owned() });
        }
        let below = self.all(call.target.as_deref().into_iter().chain(&call.args))?;
        Ok(below.saturating_add(self.own_steps(call)))
    }

    /// Work of a call that does not show as nodes.
    fn own_steps(&self, call: &CallExpr) -> u64 {
        let is_plain = |node: &IdedExpr| matches!(node.expr, Expr::Literal(_));
        match call.func_name.as_str() {
            operators::EQUALS | operators::NOT_EQUALS if !call.args.iter().any(is_plain) => COMPARE_STEPS,
            operators::IN => call.args.last().map_or(0, |range| self.items(range)),
            _ => 0,
        }
    }

    /// `+` makes new texts and lists. Loops fold with it, which the macros write and this does not count; a rule's own
    /// one could double a value each time round.
    fn addition(&mut self, call: &'a CallExpr) -> Result<u64, RuleError> {
        if is_accumulator(call.args.first()) {
            return match call.args.get(1).map(|added| &added.expr) {
                Some(Expr::List(list)) => self.all(&list.elements),
                _ => Ok(1),
            };
        }
        self.additions += 1;
        if !self.variables.is_empty() {
            return Err(not_allowed("+ is not allowed inside a loop: x + y < n can be written x < n - y"));
        }
        if self.additions > ADDITIONS_MAX {
            return Err(not_allowed("a rule may have four + at most"));
        }
        self.all(&call.args)
    }

    fn list(&mut self, list: &'a ListExpr) -> Result<u64, RuleError> {
        self.build(&list.elements)?;
        self.all(&list.elements)
    }

    fn map(&mut self, map: &'a MapExpr) -> Result<u64, RuleError> {
        let mut parts = Vec::new();
        for entry in &map.entries {
            match &entry.expr {
                EntryExpr::MapEntry(entry) => parts.extend([&entry.key, &entry.value]),
                EntryExpr::StructField(_) => return Err(not_allowed("types have no place in a rule")),
            }
        }
        self.build(parts.iter().copied())?;
        self.all(parts)
    }

    fn build(&mut self, parts: impl IntoIterator<Item = &'a IdedExpr>) -> Result<(), RuleError> {
        let (mut all, mut computed) = (0, 0);
        for part in parts {
            all += 1;
            computed += usize::from(!matches!(part.expr, Expr::Literal(_)));
        }
        self.built += computed;
        if all > ITEMS_MAX {
            return Err(not_allowed("a list in a rule may have 256 items at most"));
        }
        if computed > 0 && !self.variables.is_empty() {
            return Err(not_allowed("lists and maps inside a loop may have plain literals only"));
        }
        if self.built > BUILT_MAX {
            return Err(not_allowed("lists and maps of a rule may have 32 computed members at most"));
        }
        Ok(())
    }

    fn comprehension(&mut self, body: &'a ComprehensionExpr) -> Result<u64, RuleError> {
        let range = self.steps(&body.iter_range)?;
        if self.variables.len() > NESTING_MAX {
            return Err(RuleError::LoopsTooDeep);
        }
        if NAMES.contains(&body.iter_var.as_str()) {
            return Err(not_allowed("a loop's variable may not be named payload, output or run"));
        }
        if !self.variables.is_empty() && maps(body) {
            return Err(not_allowed("map() is not allowed inside a loop"));
        }
        self.variables.push(&body.iter_var);
        let once = self.all([&body.loop_cond, &body.loop_step]);
        self.variables.pop();
        let rest = self.all([&body.result])?;
        Ok(once?.saturating_mul(self.items(&body.iter_range)).saturating_add(range).saturating_add(rest))
    }

    /// Returns how many items a range has at most: a literal list its own, anything else what facts may have, times what
    /// additions may have made of it.
    fn items(&self, range: &IdedExpr) -> u64 {
        match &range.expr {
            Expr::List(list) => list.elements.len() as u64,
            _ => ITEMS_MAX as u64 * (1 + self.additions),
        }
    }
}

/// Whether a loop collects something else than its own items: `map`, as against `filter`, `all`, `exists`.
fn maps(body: &ComprehensionExpr) -> bool {
    fn collects_other(node: &IdedExpr, item: &str) -> bool {
        let Expr::Call(call) = &node.expr else { return false };
        if call.func_name == operators::CONDITIONAL {
            return call.args.iter().skip(1).any(|branch| collects_other(branch, item));
        }
        let Some(Expr::List(list)) = call.args.get(1).map(|added| &added.expr) else { return false };
        let is_item = |element: &IdedExpr| matches!(&element.expr, Expr::Ident(name) if name == item);
        is_accumulator(call.args.first()) && !list.elements.iter().all(is_item)
    }
    collects_other(&body.loop_step, &body.iter_var)
}

fn is_accumulator(node: Option<&IdedExpr>) -> bool {
    matches!(node.map(|node| &node.expr), Some(Expr::Ident(name)) if name == ACCUMULATOR)
}

fn not_allowed(what: &'static str) -> RuleError {
    RuleError::NotAllowed { what }
}
