import { release } from 'node:os';
import { type Condition, checkConditions, emitConditions } from './args.ts';
import {
  ENOSYS,
  isAllowed,
  type OciProfile,
  type OciRule,
  type OciWhere,
  profileFault,
  RET_ERRNO,
  RET_KILL_PROCESS,
  returnValue,
  ruleLabel,
} from './profile.ts';
import { emitTree, INSTRUCTION_BYTES, JUMP_EQ, type Label, mergeRanges, Program } from './program.ts';
import { ARCHITECTURES, isKnownName, numberOf, type SeccompArch } from './syscalls.ts';

/** BPF_MAXINSNS: the kernel accepts no longer program. */
const MAX_INSTRUCTIONS = 4096;

/** Byte offsets in struct seccomp_data. */
const NR_OFFSET = 0;
const ARCH_OFFSET = 4;

/**
 * The filter of a profile, as an array of struct sock_filter. A call of another architecture kills the process. A
 * number without a name (above the table, x32 included, or in a gap) returns ENOSYS, so that libc falls back as on an
 * older kernel. For each call, its rules with arguments are tried in the profile's order, then its rule without
 * arguments, then the default. `host` decides `includes` and `excludes`; by default no capability and the running
 * kernel. Throws SCHEMA_INVALID with the rule.
 */
export function compileProfile(
  profile: OciProfile,
  arch: SeccompArch,
  host: FilterHost = { caps: [], kernel: release() },
): Buffer {
  refuseOtherArchitectures(profile, arch);
  const program = new Program();
  const root = emitTree(program, rangesOf(profile, arch, host), (leaf) => emitDecision(program, leaf));
  const known = program.load(NR_OFFSET, root);
  const foreign = program.return(RET_KILL_PROCESS);
  program.load(ARCH_OFFSET, program.branch(JUMP_EQ, ARCHITECTURES[arch].audit, known, foreign));
  return checkLength(program.assemble());
}

function refuseOtherArchitectures({ architectures }: OciProfile, arch: SeccompArch): void {
  const { oci } = ARCHITECTURES[arch];
  if (architectures === undefined || architectures.length === 0 || architectures.includes(oci)) return;
  throw profileFault('architectures', `${oci} is not among ${architectures.join(', ')}`, `Add ${oci} to the list.`);
}

function rangesOf(profile: OciProfile, arch: SeccompArch, host: FilterHost) {
  const decisions = decideSyscalls(profile, arch, host);
  const shared = new Map<string, Decision>();
  const share = (decision: Decision) => {
    const key = keyOf(decision);
    const known = shared.get(key) ?? decision;
    shared.set(key, known);
    return known;
  };
  const byDefault = share({ tests: [], otherwise: defaultReturn(profile) });
  const unnamed = share({ tests: [], otherwise: RET_ERRNO + ENOSYS });
  const named = new Set(Object.values(ARCHITECTURES[arch].syscalls));
  const decide = (nr: number) => {
    const decision = decisions.get(nr);
    return decision === undefined ? byDefault : share(decision);
  };
  return mergeRanges(Math.max(...named), (nr) => (named.has(nr) ? decide(nr) : unnamed), unnamed);
}

function keyOf(decision: Decision): string {
  return JSON.stringify(decision, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

function emitDecision(program: Program, { tests, otherwise }: Decision): Label {
  return tests.reduceRight(
    (next, { conditions, returns }) => emitConditions(program, conditions, program.return(returns), next),
    program.return(otherwise),
  );
}

function checkLength(filter: Buffer): Buffer {
  const instructions = filter.length / INSTRUCTION_BYTES;
  if (instructions <= MAX_INSTRUCTIONS) return filter;
  throw profileFault(
    'syscalls',
    `compiled to ${instructions} instructions; the kernel accepts ${MAX_INSTRUCTIONS}`,
    'Use fewer rules with args.',
  );
}

/** What the filter does with one call: the first matching test, otherwise `otherwise`. */
interface Decision {
  readonly tests: readonly ArgTest[];
  readonly otherwise: number;
}

interface ArgTest {
  readonly conditions: readonly Condition[];
  readonly returns: number;
}

/** What a profile's `includes` and `excludes` are compared with. */
interface FilterHost {
  /** CAP_* that the confined process holds. */
  readonly caps: readonly string[];
  /** As uname prints it: "6.1.0-18-amd64". */
  readonly kernel: string;
}

interface Draft {
  readonly tests: ArgTest[];
  unconditional: { readonly returns: number; readonly rule: string } | null;
}

/** Every call that a rule names, by number; all others get the default. */
function decideSyscalls(profile: OciProfile, arch: SeccompArch, host: FilterHost): Map<number, Decision> {
  const otherwise = defaultReturn(profile);
  const drafts = new Map<number, Draft>();
  for (const [index, rule] of (profile.syscalls ?? []).entries()) {
    const label = ruleLabel(rule, index);
    const returns = returnValue(rule.action, rule.errnoRet, label);
    const conditions = checkConditions(rule.args ?? [], label);
    if (!isAllowed(returns) && isAllowed(otherwise)) refuseUnknownNames(rule, label);
    if (counts(rule, arch, host)) addRule(drafts, numbersOf(rule, arch), { conditions, returns }, label);
  }
  return new Map([...drafts].map(([nr, draft]) => [nr, finish(draft, otherwise)]));
}

function defaultReturn({ defaultAction, defaultErrnoRet }: OciProfile): number {
  return returnValue(defaultAction, defaultErrnoRet, 'defaultAction');
}

/** If calls without a rule are allowed, a misspelled name would allow the call that it was meant to stop. */
function refuseUnknownNames(rule: OciRule, label: string): void {
  const unknown = rule.names.find((name) => !isKnownName(name));
  if (unknown === undefined) return;
  throw profileFault(label, `no system call is named ${unknown}`, 'Correct the name, or remove it from the rule.');
}

function counts({ includes = {}, excludes = {} }: OciRule, arch: SeccompArch, host: FilterHost): boolean {
  const { goarch } = ARCHITECTURES[arch];
  const isArch = (where: OciWhere) => where.arches?.includes(goarch) ?? false;
  const holds = (cap: string) => host.caps.includes(cap);
  const isNewEnough = (where: OciWhere) => compareVersions(host.kernel, where.minKernel ?? '0.0') >= 0;
  if (isArch(excludes) || excludes.caps?.some(holds)) return false;
  if (excludes.minKernel !== undefined && isNewEnough(excludes)) return false;
  const archFits = (includes.arches ?? []).length === 0 || isArch(includes);
  return archFits && (includes.caps ?? []).every(holds) && isNewEnough(includes);
}

/** Compares major and minor number. */
function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(/[.-]/, 2).map(Number));
  return (a?.[0] ?? 0) - (b?.[0] ?? 0) || (a?.[1] ?? 0) - (b?.[1] ?? 0);
}

function numbersOf(rule: OciRule, arch: SeccompArch): number[] {
  return [...new Set(rule.names)].flatMap((name) => numberOf(arch, name) ?? []);
}

function addRule(drafts: Map<number, Draft>, numbers: readonly number[], test: ArgTest, rule: string): void {
  for (const nr of numbers) {
    const draft = drafts.get(nr) ?? { tests: [], unconditional: null };
    drafts.set(nr, draft);
    if (test.conditions.length > 0) draft.tests.push(test);
    else if (draft.unconditional === null) draft.unconditional = { returns: test.returns, rule };
    else refuseConflict(draft.unconditional, test.returns, rule);
  }
}

function refuseConflict(earlier: { returns: number; rule: string }, returns: number, rule: string): void {
  if (earlier.returns === returns) return;
  throw profileFault(
    rule,
    `contradicts ${earlier.rule}: both always hold for the same call, with different actions`,
    'Keep one of the two, or give one of them args.',
  );
}

/** Leaves out tests at the end that do not change the decision. */
function finish({ tests, unconditional }: Draft, byDefault: number): Decision {
  const otherwise = unconditional?.returns ?? byDefault;
  const needed = tests.findLastIndex((test) => test.returns !== otherwise) + 1;
  return { tests: tests.slice(0, needed), otherwise };
}
