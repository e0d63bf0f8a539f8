import type { JsonObject } from '../core/json.ts';
import type { ToolProfile } from '../core/profile.ts';

/** The executor of a tool's calls. Each kind has a backend (`ToolBackend`); a kind without one does not compile. */
export type ToolProgram = PluginProgram | HostProgram | UpstreamProgram;

/** A process that speaks go-plugin, from a bundle on the local disk. */
export interface PluginProgram {
  readonly kind: 'plugin';
  /** The path ends in the hash of the bundle's files. */
  readonly bundleDir: string;
  /** The process profile that tool.json asks for. */
  readonly profile: ToolProfile;
}

/** A verb of the daemon itself, without a process. Core tools only: it runs no code of a bundle and touches no file of a project. */
export interface HostProgram {
  readonly kind: 'host';
  readonly profile: Pick<ToolProfile, 'minIsolation' | 'limits'>;
}

/** A tool of an MCP server. */
export interface UpstreamProgram {
  readonly kind: 'upstream';
  /** What the server calls it. */
  readonly upstreamName: string;
  /** SHA-256 of its definition, hexadecimal: a call never reaches the tool in another definition than the one it was checked against. */
  readonly definitionSha256: string;
  /** What the server says of it, without proof: no rule of contextd may rely on it. */
  readonly annotations: JsonObject;
  /** What else it says of the tool, with keys of MCP: `title`, `annotations`, `outputSchema`. */
  readonly declared: JsonObject;
  readonly profile: Pick<ToolProfile, 'minIsolation' | 'limits'>;
}
