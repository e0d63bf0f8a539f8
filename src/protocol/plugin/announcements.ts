/** The address of a numbered service, as the other side announces it. Not checked yet. */
export interface Announcement {
  service_id: number;
  network: string;
  address: string;
  /** Used only with multiplexing, which contextd does not support. */
  knock: object | null;
}

/** The most announcements kept before they are requested; further ones are dropped. */
const MAX_WAITING = 64;

interface Announced {
  announcement: Announcement;
  timer: NodeJS.Timeout;
}

interface Asked {
  resolve(announcement: Announcement): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/**
 * Matches the numbers that the other side announces with the numbers that this side requests, whichever comes first. Each
 * waits `timeoutMs` for its counterpart and is then forgotten. An announcement is used once.
 */
export class Announcements {
  readonly #timeoutMs: number;
  readonly #announced = new Map<number, Announced>();
  readonly #asked = new Map<number, Asked>();
  #closed: Error | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  receive(announcement: Announcement): void {
    const { service_id: id, knock } = announcement;
    if (knock !== null || this.#closed !== undefined) return;
    const asked = this.#asked.get(id);
    if (asked !== undefined) {
      this.#forgetAsked(id);
      asked.resolve(announcement);
      return;
    }
    this.#forgetAnnounced(id);
    if (this.#announced.size >= MAX_WAITING) return;
    const timer = setTimeout(() => this.#announced.delete(id), this.#timeoutMs);
    this.#announced.set(id, { announcement, timer });
  }

  /** Rejects if `id` is not announced in time, is already being awaited, or the connection is gone. */
  take(id: number): Promise<Announcement> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#asked.has(id)) return Promise.reject(new Error(`number ${id} of the broker is already being dialled`));
    const announced = this.#announced.get(id);
    this.#forgetAnnounced(id);
    return announced === undefined ? this.#ask(id) : Promise.resolve(announced.announcement);
  }

  /** Rejects everything that waits with `reason`. */
  close(reason: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    for (const id of this.#announced.keys()) this.#forgetAnnounced(id);
    for (const [id, { reject }] of this.#asked) {
      this.#forgetAsked(id);
      reject(reason);
    }
  }

  #ask(id: number): Promise<Announcement> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id);
        reject(new Error(`number ${id} of the broker was not announced within ${this.#timeoutMs} ms`));
      }, this.#timeoutMs);
      this.#asked.set(id, { resolve, reject, timer });
    });
  }

  #forgetAnnounced(id: number): void {
    clearTimeout(this.#announced.get(id)?.timer);
    this.#announced.delete(id);
  }

  #forgetAsked(id: number): void {
    clearTimeout(this.#asked.get(id)?.timer);
    this.#asked.delete(id);
  }
}
