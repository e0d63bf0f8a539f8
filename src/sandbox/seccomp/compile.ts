import { release } from 'node:os';
import { ENOSYS, RET_ERRNO, RET_KILL_PROCESS } from './actions.ts';
import { emitConditions } from './args.ts';
import { profileFault } from './faults.ts';
import type { OciProfile } from './profile.ts';
import { INSTRUCTION_BYTES, JUMP_EQ, type Label, Program } from './program.ts';
import { type Decision, decideSyscalls, defaultReturn, type FilterHost } from './rules.ts';
import { ARCHITECTURES, type SeccompArch } from './syscalls.ts';
import { emitTree, mergeRanges } from './tree.ts';

/** BPF_MAXINSNS: the kernel takes no longer program. */
const MAX_INSTRUCTIONS = 4096;

/** Byte offsets in struct seccomp_data. */
const NR_OFFSET = 0;
const ARCH_OFFSET = 4;

/**
 * The filter of a profile, as an array of struct sock_filter. A call of another architecture kills the process; a
 * number without a name, above the table (x32 too) or in a gap of it, is ENOSYS, so that libc falls back as on an
 * older kernel. For one call the rules with arguments are tried in the profile's order, then its rule without, then
 * the default. `host` decides `includes` and `excludes`: by default no capability, and the running kernel. Throws
 * SCHEMA_INVALID with the rule.
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
    `compiled to ${instructions} instructions, the kernel takes ${MAX_INSTRUCTIONS}`,
    'Use fewer rules with args.',
  );
}
