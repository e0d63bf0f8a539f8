/** Place of an instruction, counted from the end of the program. */
export type Label = number;

export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** The instruction codes of classic BPF that a filter uses (linux/bpf_common.h), all on 32-bit words. */
export const LOAD = 0x20;
export const AND = 0x54;
export const JUMP = 0x05;
export const JUMP_EQ = 0x15;
export const JUMP_GT = 0x25;
export const JUMP_GE = 0x35;
export const RETURN = 0x06;
type Branch = typeof JUMP_EQ | typeof JUMP_GT | typeof JUMP_GE;

export const INSTRUCTION_BYTES = 8;

/** A branch stores each of its two distances in 8 bits. */
const FAR = 255;

/** A return within this distance is shared; beyond it a copy costs the same as a jump and saves a step. */
const SHARE_WITHIN = 200;

/**
 * Assembles a filter from its end to its start: BPF jumps only forwards, so every target exists before the jump to it,
 * and distances are known when it is written.
 */
export class Program {
  readonly #reversed: Instruction[] = [];
  readonly #returns = new Map<number, Label>();

  get length(): number {
    return this.#reversed.length;
  }

  return(value: number): Label {
    const known = this.#returns.get(value);
    if (known !== undefined && this.length - known < SHARE_WITHIN) return known;
    const label = this.#add({ code: RETURN, jt: 0, jf: 0, k: value });
    this.#returns.set(value, label);
    return label;
  }

  /** Loads the word at a byte offset of seccomp_data, then continues at `next`. */
  load(offset: number, next: Label): Label {
    return this.#then({ code: LOAD, jt: 0, jf: 0, k: offset }, next);
  }

  and(mask: number, next: Label): Label {
    return this.#then({ code: AND, jt: 0, jf: 0, k: mask }, next);
  }

  /** Compares the loaded word with `k`, unsigned. */
  branch(code: Branch, k: number, whenTrue: Label, whenFalse: Label): Label {
    if (whenTrue === whenFalse) return whenTrue;
    const jumpTrue = this.#near(whenTrue, FAR - 1);
    const jumpFalse = this.#near(whenFalse, FAR);
    const here = this.length;
    return this.#add({ code, jt: here - jumpTrue - 1, jf: here - jumpFalse - 1, k });
  }

  /** An array of struct sock_filter, little endian, beginning with the instruction written last. */
  assemble(): Buffer {
    const bytes = Buffer.alloc(this.length * INSTRUCTION_BYTES);
    for (const [index, { code, jt, jf, k }] of this.#reversed.toReversed().entries()) {
      const at = index * INSTRUCTION_BYTES;
      bytes.writeUInt16LE(code, at);
      bytes.writeUInt8(jt, at + 2);
      bytes.writeUInt8(jf, at + 3);
      bytes.writeUInt32LE(k, at + 4);
    }
    return bytes;
  }

  #add(instruction: Instruction): Label {
    return this.#reversed.push(instruction) - 1;
  }

  #then(instruction: Instruction, next: Label): Label {
    if (next !== this.length - 1) this.#bridge(next);
    return this.#add(instruction);
  }

  /** A place that leads to `target` and is within reach of the next instruction. */
  #near(target: Label, reach: number): Label {
    return this.length - target - 1 <= reach ? target : this.#bridge(target);
  }

  #bridge(target: Label): Label {
    const there = this.#reversed[target];
    if (there?.code === RETURN) return this.#add(there);
    return this.#add({ code: JUMP, jt: 0, jf: 0, k: this.length - target - 1 });
  }
}

/** All numbers from `from` up to the next range's `from`; the first range begins at 0, the last has no end. */
interface Range<T> {
  readonly from: number;
  readonly leaf: T;
}

/** Numbers 0 to `last` and everything above (`beyond`); neighbours with the same leaf are merged. */
export function mergeRanges<T>(last: number, leafOf: (nr: number) => T, beyond: T): Range<T>[] {
  const ranges: Range<T>[] = [];
  const add = (from: number, leaf: T) => {
    if (ranges.at(-1)?.leaf !== leaf) ranges.push({ from, leaf });
  };
  for (let nr = 0; nr <= last; nr++) add(nr, leafOf(nr));
  add(last + 1, beyond);
  return ranges;
}

/** A balanced tree of comparisons of the loaded number; `emitLeaf` writes its leaves. */
export function emitTree<T>(program: Program, ranges: readonly Range<T>[], emitLeaf: (leaf: T) => Label): Label {
  const middle = ranges[ranges.length >> 1];
  if (middle === undefined) throw new Error('a tree of no range');
  if (ranges.length === 1) return emitLeaf(middle.leaf);
  const upper = emitTree(program, ranges.slice(ranges.length >> 1), emitLeaf);
  const lower = emitTree(program, ranges.slice(0, ranges.length >> 1), emitLeaf);
  return program.branch(JUMP_GE, middle.from, upper, lower);
}
