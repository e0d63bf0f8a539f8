import { HOSTS_PER_SCOPE } from '../../egress/limits.ts';

/**
 * What the proxy processes of this daemon have sent to each host of a scope, so that a new process goes on counting. Beyond
 * the limit of hosts, the one that got least is forgotten.
 */
export class SentBytes {
  readonly #hosts = new Map<string, number>();

  /** Reports can only raise a count. */
  note(host: string, bytes: number): void {
    const known = this.#hosts.get(host);
    this.#hosts.set(host, Math.max(bytes, known ?? 0));
    if (known === undefined && this.#hosts.size > HOSTS_PER_SCOPE) this.#hosts.delete(this.#least(host));
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#hosts);
  }

  #least(added: string): string {
    let least: [host: string, bytes: number] = [added, Number.POSITIVE_INFINITY];
    for (const one of this.#hosts) if (one[0] !== added && one[1] < least[1]) least = one;
    return least[0];
  }
}
