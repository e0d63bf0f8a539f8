import type { Outcome, RunChange } from '../../helpers/sandbox-identities.ts';

/** Targets for the probes that the tests planted on the host. */
export interface Facts {
  readonly workspace: string;
  readonly base: string;
  /**
   * A home directory beside the project with `.ssh/id_planted` and `outside.txt`, readable and writable by everyone.
   */
  readonly person: string;
  /** Text of every planted file and variable; it must never be printed inside. */
  readonly secret: string;
  /** TCP servers that answer `reached`: on the loopback, and on an address of the machine if it has one. */
  readonly loopback: { address: string; port: number };
  readonly lan: { address: string; port: number } | null;
  /** Unix servers that answer `reached`: an abstract one and one in the person's home. */
  readonly abstractSocket: string;
  readonly pathSocket: string;
  /** A process of the same user as the command inside. */
  readonly victimPid: number;
  readonly hostPid: number;
  readonly byCgroup: boolean;
}

export interface Probe {
  /** 1 to 66. */
  readonly id: number;
  readonly name: string;
  readonly requirement: 'SEC-2.2' | 'SEC-2.3' | 'SEC-2.4' | 'SEC-2.5';
  /** Bash script, run in the project. It only opens files if a successful write would harm the host. */
  script(facts: Facts): string;
  readonly change?: RunChange;
  /** Throws unless the probe was contained. */
  contained(seen: Outcome, facts: Facts): void | Promise<void>;
}

/** Ordinary work with the same kind of commands: a sandbox that fails everything must not pass. */
export interface ProbeGroup {
  readonly name: string;
  readonly control: Pick<Probe, 'script' | 'change'> & { works(seen: Outcome, facts: Facts): void };
  readonly probes: readonly Probe[];
}

/** Returns a perl program as a bash command; every distribution with bubblewrap has perl-base. */
export function perl(program: string): string {
  return `perl <<'CONTEXTD_END'\n${program}\nCONTEXTD_END`;
}
