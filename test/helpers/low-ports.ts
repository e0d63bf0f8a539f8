import { once } from 'node:events';
import { createServer } from 'node:net';

/** True if the tests may listen on the ports of HTTPS, HTTP and SSH, as only root may on most machines. A warning says if not. */
export const HAS_LOW_PORTS = await mayListen(443);

async function mayListen(port: number): Promise<boolean> {
  const server = createServer();
  try {
    // An address of this test alone: the port itself may be in use.
    await once(server.listen(port, `127.78.${process.pid % 250}.1`), 'listening');
    return true;
  } catch {
    console.warn(
      `SKIPPED as uid ${process.getuid?.()}: what needs a host on port ${port} (net.ipv4.ip_unprivileged_port_start)`,
    );
    return false;
  } finally {
    server.close();
  }
}
