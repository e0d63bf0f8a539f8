import {
  RET_ALLOW,
  RET_ERRNO,
  RET_KILL_PROCESS,
  RET_KILL_THREAD,
  RET_LOG,
  RET_TRAP,
} from '#src/sandbox/machine/seccomp/profile.js';
import {
  AND,
  INSTRUCTION_BYTES,
  type Instruction,
  JUMP,
  JUMP_EQ,
  JUMP_GE,
  JUMP_GT,
  LOAD,
  RETURN,
} from '#src/sandbox/machine/seccomp/program.js';

/** Codes that only other compilers write. */
const JUMP_SET = 0x45;
const LOAD_CONSTANT = 0x00;

/** What the kernel shows a filter about one call. */
export interface SeccompCall {
  /** AUDIT_ARCH_* number. */
  readonly arch: number;
  readonly nr: number;
  /** Up to six; missing ones are 0. */
  readonly args?: readonly bigint[];
}

export type Verdict =
  | { readonly action: 'allow' | 'log' | 'trap' | 'kill_thread' | 'kill_process' }
  | { readonly action: 'errno'; readonly errno: number };

/** Runs a filter on one call as the kernel would. Throws an Error for a program that the kernel would refuse. */
export function interpretFilter(program: readonly Instruction[], call: SeccompCall): Verdict {
  return verdictOf(runProgram(program, encodeCall(call)));
}

/** Throws an Error if the bytes are not an array of instructions. */
export function decodeFilter(filter: Buffer): Instruction[] {
  if (filter.length === 0 || filter.length % INSTRUCTION_BYTES !== 0)
    throw new Error(`a filter of ${filter.length} bytes is no array of instructions`);
  return Array.from({ length: filter.length / INSTRUCTION_BYTES }, (_, index) => {
    const at = index * INSTRUCTION_BYTES;
    const [jt, jf] = [filter.readUInt8(at + 2), filter.readUInt8(at + 3)];
    return { code: filter.readUInt16LE(at), jt, jf, k: filter.readUInt32LE(at + 4) };
  });
}

/** struct seccomp_data, little endian: nr, arch, instruction pointer (0), six arguments. */
function encodeCall({ arch, nr, args = [] }: SeccompCall): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  return data;
}

function runProgram(program: readonly Instruction[], data: Buffer): number {
  let word = 0;
  for (let at = 0; ; at++) {
    const instruction = program[at];
    if (instruction === undefined) throw new Error(`instruction ${at} is outside of the filter`);
    const { code, jt, jf, k } = instruction;
    if (code === RETURN) return k;
    if (code === LOAD) word = data.readUInt32LE(k);
    else if (code === LOAD_CONSTANT) word = k;
    else if (code === AND) word = (word & k) >>> 0;
    else if (code === JUMP) at += k;
    else at += holds(code, word, k) ? jt : jf;
  }
}

function holds(code: number, word: number, k: number): boolean {
  switch (code) {
    case JUMP_EQ:
      return word === k;
    case JUMP_GT:
      return word > k;
    case JUMP_GE:
      return word >= k;
    case JUMP_SET:
      return (word & k) !== 0;
    default:
      throw new Error(`instruction code 0x${code.toString(16)} is not one of a filter`);
  }
}

function verdictOf(returned: number): Verdict {
  const errno = returned & 0xffff;
  switch ((returned & 0xffff0000) >>> 0) {
    case RET_ALLOW:
      return { action: 'allow' };
    case RET_LOG:
      return { action: 'log' };
    case RET_ERRNO:
      return { action: 'errno', errno };
    case RET_TRAP:
      return { action: 'trap' };
    case RET_KILL_THREAD:
      return { action: 'kill_thread' };
    case RET_KILL_PROCESS:
      return { action: 'kill_process' };
    default:
      throw new Error(`the filter returned 0x${returned.toString(16)}`);
  }
}
