import type { SeccompToggles } from '../sandbox.ts';
import { DEBUGGER_CALLS, DENIED_CALLS } from '../seccomp/call-groups.ts';

/** Programs whose complaint does not name the call they are for. */
const PROGRAMS: Readonly<Record<string, string>> = {
  nsenter: 'setns',
  bwrap: 'unshare',
  strace: 'ptrace',
  gdb: 'ptrace',
};
const ENDS = /: Operation not permitted(?:\.| at .{1,200} line \d+\.)?$/;

/** The call that the filter refused and this line names, or null. */
export function readSystemCallComplaint(line: string, toggles: SeccompToggles): string | null {
  const end = line.includes('Operation not permitted') ? line.search(ENDS) : -1;
  if (end < 0) return null;
  const [program = '', ...pieces] = line.slice(0, end).split(': ');
  const name = program.slice(program.lastIndexOf('/') + 1);
  const named = [...pieces.reverse(), name].map(callIn).find((call) => isRefused(call, toggles));
  return named ?? [PROGRAMS[name] ?? ''].find((call) => isRefused(call, toggles)) ?? null;
}

/** `ptrace(PTRACE_ATTACH, 3)`, `unshare failed`, `unshare`. */
function callIn(piece: string): string {
  return /^([a-z_0-9]+)(?:\(.*\)| failed)?$/.exec(piece)?.[1] ?? '';
}

function isRefused(call: string, toggles: SeccompToggles): boolean {
  if (DEBUGGER_CALLS.includes(call)) return !toggles.debugger;
  return Object.values(DENIED_CALLS).some((calls) => calls.includes(call));
}

export function isDebuggerCall(call: string): boolean {
  return DEBUGGER_CALLS.includes(call);
}
