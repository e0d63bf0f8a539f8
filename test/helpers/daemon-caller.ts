import { connect } from '#src/cli/client.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import type { Envelope } from '#src/core/envelope.js';
import { newRequestId } from '#src/core/ids.js';
import { PROTOCOL_VERSION } from '#src/protocol/versions.js';
import { checkedEnvelope } from './envelope-schema.ts';
import type { Installation } from './installation.ts';

export interface DaemonCaller {
  /**
   * Makes a call over the open channel. Throws if the answer does not fit the published schema or miscounts its tokens.
   */
  call(tool: string, input: object): Promise<DaemonAnswer>;
  close(): void;
}

export interface DaemonAnswer {
  line: string;
  /** The text that the proxy prints on stderr. */
  errorLine: string;
  exitCode: number;
  envelope: Envelope;
}

/** Calls tools of an installation without starting a process for each call. */
export async function openCaller({ environment, home, project }: Installation, session: string): Promise<DaemonCaller> {
  const daemon = await connect(
    resolvePaths({ ...readEnvironment(environment), contextdHome: home }, findInstallRoot()),
  );
  return {
    async call(tool, input) {
      const { envelope_json, error_line, exit_code } = await daemon.execute(
        {
          tool,
          input_json: Buffer.from(JSON.stringify(input)),
          context: {
            request_id: newRequestId(Date.now()),
            project_root: project,
            session_id: session,
            protocol_version: PROTOCOL_VERSION,
          },
        },
        new AbortController().signal,
      );
      const line = envelope_json.toString();
      return { line, errorLine: error_line, exitCode: exit_code, envelope: checkedEnvelope(line) };
    },
    close: () => daemon.close(),
  };
}
