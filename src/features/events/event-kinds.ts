/** What a context is for: to choose a tool, to write its arguments, to understand its result, or to answer a person. */
export const PHASES = ['route', 'call', 'interpret', 'answer'] as const;
export type Phase = (typeof PHASES)[number];

/** The sections of a compiled context, in the order of its text. */
export const SECTIONS = ['state', 'messages', 'memories', 'calls'] as const;

/** `call`: a tool call; `action`: something contextd or a person did; `message`: text that was handed in. */
export type EventForm = 'call' | 'action' | 'message';

export interface EventKindRow {
  /** The facts that its events carry. The form decides how they are stored, read and shown. */
  readonly form: EventForm;
  readonly section: (typeof SECTIONS)[number];
  /** How much it counts in a context of each phase, 0 to 3. With 0 it is not a candidate. */
  readonly weights: Readonly<Record<Phase, number>>;
  /** The most events of this kind in a context, by phase. Default: as many as fit. */
  readonly limits?: Readonly<Partial<Record<Phase, number>>>;
}

/** One row per kind of event. A new kind needs this row and the code that appends it. */
export const EVENT_KINDS = {
  call: {
    form: 'call',
    section: 'calls',
    weights: { route: 1, call: 2, interpret: 3, answer: 2 },
    limits: { route: 20 },
  },
  /** A call that searches, stores or rates memories. */
  memory: {
    form: 'call',
    section: 'memories',
    weights: { route: 1, call: 1, interpret: 0, answer: 1 },
    limits: { call: 10 },
  },
  branch: { form: 'action', section: 'state', weights: { route: 1, call: 1, interpret: 1, answer: 2 } },
  checkpoint: { form: 'action', section: 'state', weights: { route: 1, call: 1, interpret: 0, answer: 1 } },
  undo: { form: 'action', section: 'state', weights: { route: 1, call: 1, interpret: 1, answer: 1 } },
  message: { form: 'message', section: 'messages', weights: { route: 3, call: 2, interpret: 1, answer: 3 } },
} as const satisfies Record<string, EventKindRow>;

export type EventKind = keyof typeof EVENT_KINDS;
export type FormOf<Kind extends EventKind> = (typeof EVENT_KINDS)[Kind]['form'];

export function isEventKind(name: string): name is EventKind {
  return Object.hasOwn(EVENT_KINDS, name);
}
