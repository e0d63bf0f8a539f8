import { type OciArg, type OciOp, profileFault } from './profile.ts';
import { JUMP_EQ, JUMP_GE, JUMP_GT, type Label, type Program } from './program.ts';

/** A checked comparison. `mask` is all ones unless the operator is MASKED_EQ. */
export interface Condition {
  readonly index: number;
  readonly op: OciOp;
  readonly mask: bigint;
  readonly value: bigint;
}

/** Byte offset of args[0] in struct seccomp_data; each is 8 bytes, the low word first. */
const ARGS_OFFSET = 16;
const ARG_COUNT = 6;
const ALL_ONES = (1n << 64n) - 1n;

/**
 * Throws SCHEMA_INVALID, naming the rule, for a comparison that is never true or that other readers understand
 * differently.
 */
export function checkConditions(args: readonly OciArg[], rule: string): Condition[] {
  const conditions = args.map((arg) => checkCondition(arg, rule));
  const repeated = conditions.find(({ index }, at) => conditions.findIndex((other) => other.index === index) < at);
  if (repeated === undefined) return conditions;
  // Some readers take this as "and", others as "or".
  throw profileFault(rule, `argument ${repeated.index} is compared twice`, 'Write one rule for each alternative.');
}

function checkCondition({ index, op, value, valueTwo }: OciArg, rule: string): Condition {
  if (!Number.isInteger(index) || index < 0 || index >= ARG_COUNT)
    throw profileFault(rule, `there is no argument ${index}`, `Use an index from 0 to ${ARG_COUNT - 1}.`);
  const first = toUint64(value, rule);
  const second = toUint64(valueTwo ?? 0, rule);
  if (op !== 'SCMP_CMP_MASKED_EQ') return { index, op, mask: ALL_ONES, value: first };
  if ((second & first) === second) return { index, op, mask: first, value: second };
  throw profileFault(
    rule,
    `argument ${index} masked with ${value} can never be ${valueTwo}`,
    'With SCMP_CMP_MASKED_EQ, value is the mask and valueTwo what is left after it.',
  );
}

function toUint64(value: number | bigint, rule: string): bigint {
  if (typeof value === 'bigint' ? value >= 0n && value <= ALL_ONES : Number.isSafeInteger(value) && value >= 0)
    return BigInt(value);
  throw profileFault(
    rule,
    `${value} is not a whole number that is kept exactly`,
    'Use 0 to 2^53 - 1; a profile written in TypeScript may hold a bigint up to 2^64 - 1.',
  );
}

/** Code that jumps to `whenTrue` if all conditions hold. */
export function emitConditions(
  program: Program,
  conditions: readonly Condition[],
  whenTrue: Label,
  whenFalse: Label,
): Label {
  return conditions.reduceRight((next, condition) => emitCondition(program, condition, next, whenFalse), whenTrue);
}

function emitCondition(program: Program, condition: Condition, yes: Label, no: Label): Label {
  switch (condition.op) {
    case 'SCMP_CMP_EQ':
    case 'SCMP_CMP_MASKED_EQ':
      return emitEqual(program, condition, yes, no);
    case 'SCMP_CMP_NE':
      return emitEqual(program, condition, no, yes);
    case 'SCMP_CMP_GT':
      return emitGreater(program, condition, JUMP_GT, yes, no);
    case 'SCMP_CMP_GE':
      return emitGreater(program, condition, JUMP_GE, yes, no);
    case 'SCMP_CMP_LE':
      return emitGreater(program, condition, JUMP_GT, no, yes);
    case 'SCMP_CMP_LT':
      return emitGreater(program, condition, JUMP_GE, no, yes);
  }
}

function emitEqual(program: Program, { index, mask, value }: Condition, yes: Label, no: Label): Label {
  const low = emitWordEqual(program, lowOffset(index), lowWord(mask), lowWord(value), yes, no);
  return emitWordEqual(program, highOffset(index), highWord(mask), highWord(value), low, no);
}

function emitWordEqual(program: Program, offset: number, mask: number, value: number, yes: Label, no: Label): Label {
  if (mask === 0) return yes;
  const compare = program.branch(JUMP_EQ, value, yes, no);
  return program.load(offset, mask === 0xffffffff ? compare : program.and(mask, compare));
}

/** The high words decide unless they are equal. */
function emitGreater(
  program: Program,
  { index, value }: Condition,
  op: typeof JUMP_GT | typeof JUMP_GE,
  yes: Label,
  no: Label,
): Label {
  const low = program.load(lowOffset(index), program.branch(op, lowWord(value), yes, no));
  const equal = program.branch(JUMP_EQ, highWord(value), low, no);
  return program.load(highOffset(index), program.branch(JUMP_GT, highWord(value), yes, equal));
}

function lowOffset(index: number): number {
  return ARGS_OFFSET + 8 * index;
}

function highOffset(index: number): number {
  return lowOffset(index) + 4;
}

function lowWord(value: bigint): number {
  return Number(value & 0xffffffffn);
}

function highWord(value: bigint): number {
  return Number(value >> 32n);
}
