/** The other side sent what is not of the protocol. Nothing it sends after that can be trusted. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}
