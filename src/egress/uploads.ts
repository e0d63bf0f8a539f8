import { HOSTS_PER_SCOPE, UPLOAD_STEP_BYTES } from './limits.ts';

/** What a host got. */
interface Sent {
  bytes: number;
  /** The count that a new process would begin with. */
  reported: number;
  /** Connections to it. */
  open: number;
}

export interface UploadsDeps {
  /** True if a rule spells the host out: its count is never given up. */
  isNamed(host: string): boolean;
  /** Called before the host gets more than was reported: the process could end at any time. */
  report(host: string, bytes: number): void;
}

/**
 * Bytes that were sent to each host of a scope, for the limit that a person set. A count outlives the process: it is
 * reported ahead, and restored in the next one. Beyond the limit of hosts, the one under a wildcard that was not used for
 * longest is forgotten: the owner of a domain has as many names below it as he likes.
 */
export class Uploads {
  readonly #deps: UploadsDeps;
  /** In the order of use: the first one was used longest ago. */
  readonly #hosts = new Map<string, Sent>();

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  /** Counts as an earlier process did. */
  restore(counts: Readonly<Record<string, number>>): void {
    for (const [host, bytes] of Object.entries(counts)) {
      const known = this.#hosts.get(host);
      const least = Math.max(bytes, known?.bytes ?? 0);
      this.#hosts.set(host, { open: known?.open ?? 0, bytes: least, reported: least });
    }
  }

  /** Call when a connection begins, and the returned function when it ends. */
  begin(host: string): () => void {
    const sent = this.#hosts.get(host) ?? { bytes: 0, reported: 0, open: 0 };
    this.#hosts.delete(host);
    this.#hosts.set(host, sent);
    sent.open += 1;
    if (this.#hosts.size > HOSTS_PER_SCOPE) this.#forgetOne();
    return () => {
      sent.open -= 1;
    };
  }

  /** True if the host takes no more bytes. */
  isUsedUp(host: string, maxBytes: number | null): boolean {
    return maxBytes !== null && (this.#hosts.get(host)?.bytes ?? 0) >= maxBytes;
  }

  /** Counts bytes that are about to be sent. False: they are over the limit. */
  maySend(host: string, bytes: number, maxBytes: number | null): boolean {
    const sent = this.#hosts.get(host);
    if (sent === undefined) return false;
    const after = sent.bytes + bytes;
    if (maxBytes !== null) {
      if (after > maxBytes) return false;
      if (after > sent.reported) {
        sent.reported = Math.min(maxBytes, after + Math.max(UPLOAD_STEP_BYTES, Math.floor(maxBytes / 100)));
        this.#deps.report(host, sent.reported);
      }
    }
    sent.bytes = after;
    return true;
  }

  #forgetOne(): void {
    for (const [host, { open }] of this.#hosts) {
      if (open > 0 || this.#deps.isNamed(host)) continue;
      this.#hosts.delete(host);
      return;
    }
  }
}
