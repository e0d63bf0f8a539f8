import type { ToolProgram } from '../call/tool-program.ts';
import { ContextdError } from '../core/errors.ts';
import type { ArgumentSchema } from './arguments.ts';
import type { ToolManifest } from './manifest.ts';
import { formatToolName, parseToolName } from './tool-name.ts';

/** What callers and a person know of a tool, whatever carries out its calls. */
export type ToolDescription = Omit<ToolManifest, 'profile'>;

/** One version of a tool, as its source describes it. */
export interface CatalogTool {
  /** `name` is in canonical form; that of an upstream tool has a namespace. */
  manifest: ToolDescription;
  origin: 'core' | 'installed';
  /** The hash a person accepts: of its bundle. */
  sha256: string;
  program: ToolProgram;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
  arguments: ArgumentSchema;
}

/** Where tools come from: bundles on disk today. Schemas and documents need not be files. What it lists may change. */
export interface ToolSource {
  /** Makes the tools ready to be listed and run. */
  start(): Promise<void>;
  stop(): Promise<void>;
  list(): readonly CatalogTool[];
  /** Throws INTEGRITY_FAILED unless a tool of this source is still what its hash names (SEC-4.1). */
  verify(tool: CatalogTool): Promise<void>;
}

/** The part of a registered project that chooses among the versions of a tool. */
export interface AcceptedVersions {
  tools: readonly { name: string; bundleSha256: string }[];
}

export interface Catalog {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * The version of the tool `name` that a person accepted for the project. Undefined if none was accepted, or if the
   * accepted version is no longer there: another version never takes its place.
   */
  find(project: AcceptedVersions, name: string): CatalogTool | undefined;
  /** Every version of the tool `name`, in the order of the sources: that of the installation comes first. */
  versions(name: string): readonly CatalogTool[];
  /** All tools in all versions, sorted by name. */
  list(): readonly CatalogTool[];
  /** Throws INTEGRITY_FAILED unless the tool is still what its hash names (SEC-4.1). */
  verify(tool: CatalogTool): Promise<void>;
}

export function createCatalog(sources: readonly ToolSource[]): Catalog {
  const all = (): CatalogTool[] => sources.flatMap((source) => [...source.list()]);
  const versions = (name: string): readonly CatalogTool[] => {
    const parsed = parseToolName(name);
    if (parsed === null) return [];
    const canonical = formatToolName(parsed);
    return all().filter(({ manifest }) => manifest.name === canonical);
  };
  return {
    async start() {
      for (const source of sources) await source.start();
    },
    async stop() {
      for (const source of sources) await source.stop();
    },
    find(project, name) {
      const known = versions(name);
      const accepted = project.tools.find((tool) => tool.name === known[0]?.manifest.name);
      return known.find((tool) => tool.sha256 === accepted?.bundleSha256);
    },
    versions,
    list: () => all().sort((a, b) => a.manifest.name.localeCompare(b.manifest.name)),
    async verify(tool) {
      const source = sources.find((one) => one.list().includes(tool));
      if (source !== undefined) return source.verify(tool);
      throw new ContextdError('INTEGRITY_FAILED', `${tool.manifest.name} is not a tool of this catalog`, {
        remedy: 'Run `ctxd server restart`.',
      });
    },
  };
}
