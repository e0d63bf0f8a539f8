import type { Outcome, RunChange } from '../../helpers/sandbox-identities.ts';

/** What the tests planted on the host, for the probes to reach for. */
export interface Facts {
  readonly workspace: string;
  readonly base: string;
  /** A home directory beside the project, with `.ssh/id_planted` and `outside.txt` in it, which all may read and write. */
  readonly person: string;
  /** Text of every planted file and variable; none may ever be printed inside. */
  readonly secret: string;
  /** TCP servers that answer `reached`: on the loopback, and on an address of the machine's own if it has one. */
  readonly loopback: { address: string; port: number };
  readonly lan: { address: string; port: number } | null;
  /** Unix servers that answer `reached`: an abstract one, one in the person's home. */
  readonly abstractSocket: string;
  readonly pathSocket: string;
  /** A process of the same user as the one inside. */
  readonly victimPid: number;
  readonly hostPid: number;
  readonly byCgroup: boolean;
}

export interface Probe {
  /** 1 to 66. */
  readonly id: number;
  readonly name: string;
  readonly requirement: 'SEC-2.2' | 'SEC-2.3' | 'SEC-2.4' | 'SEC-2.5';
  /** Bash, run in the project. Opens only, wherever a write that got through would hurt the host. */
  script(facts: Facts): string;
  readonly change?: RunChange;
  /** Throws unless it was contained. */
  contained(seen: Outcome, facts: Facts): void | Promise<void>;
}

/** The same kind of commands doing their honest work: a sandbox that fails everything must not pass. */
export interface ProbeGroup {
  readonly name: string;
  readonly control: Pick<Probe, 'script' | 'change'> & { works(seen: Outcome, facts: Facts): void };
  readonly probes: readonly Probe[];
}

/** A perl program as a bash command; perl-base is there on every distribution with bubblewrap. */
export function perl(program: string): string {
  return `perl <<'CONTEXTD_END'\n${program}\nCONTEXTD_END`;
}
