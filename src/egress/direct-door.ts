import type { Socket } from 'node:net';
import type { Broker } from './broker.ts';
import type { Asked, Asker, Gate } from './gate.ts';
import type { HttpDoor } from './http-door.ts';
import { ALERT_ACCESS_DENIED, type Refusal, refusalBytes, sshLine, tlsAlert } from './refusal.ts';
import { tunnel } from './tunnel.ts';

const NO_NAME = 'no name was looked up that has this address';

/** Programs that know no proxy: the address that they connect to stands for a name. */
export class DirectDoor {
  readonly #gate: Gate;
  readonly #http: HttpDoor;
  readonly #broker: Broker | null;

  constructor(gate: Gate, http: HttpDoor, broker: Broker | null) {
    this.#gate = gate;
    this.#http = http;
    this.#broker = broker;
  }

  /** `name`: what the address stands for; null: nothing. `socket` is paused. */
  serve(
    socket: Socket,
    asker: Asker,
    { name, address, port }: { name: string | null; address: string; port: number },
  ): void {
    const asked: Asked = { ...asker, host: name ?? address, port, via: 'direct' };
    if (name === null) refuse(socket, port, this.#gate.refuse(asked, NO_NAME));
    else this.#serve(socket, asked).catch(() => socket.destroy());
  }

  async #serve(socket: Socket, asked: Asked): Promise<void> {
    const { port } = asked;
    if (port === 80) {
      const { name, refusal } = this.#gate.screen(asked);
      if (name === null) return refuse(socket, port, refusal);
      return this.#http.serve(socket, asked, { name, port, via: 'direct' });
    }
    const { refusal, connection, destination } = await this.#gate.admit(asked);
    if (connection === null) return refuse(socket, port, refusal);
    const entrance = {
      opened: () => {},
      failed: (why: Refusal) => refuse(socket, port, why),
      speaksHttp: () => this.#http.serve(socket, asked, { name: destination.host, port, via: 'direct' }),
    };
    await tunnel(socket, connection, { destination, broker: this.#broker, entrance });
  }
}

/** In the protocol of the port; on another port the connection just ends. */
function refuse(socket: Socket, port: number, refusal: Refusal): void {
  const words = port === 443 ? tlsAlert(ALERT_ACCESS_DENIED) : port === 80 ? refusalBytes(refusal) : sshLine(refusal);
  if (port === 443 || port === 80 || port === 22) socket.end(words, () => socket.destroySoon());
  else socket.destroy();
}
