import { pathToFileURL } from 'node:url';
import { findPeer, peerModule } from './peers.ts';

/** The part of secretlint's interface that the benchmark uses. */
interface SecretlintCore {
  lintSource(task: object): Promise<unknown>;
}

/** Loads secretlint's library with its recommended rules. Returns null if it is not installed. */
export async function loadSecretlint(): Promise<((text: string) => Promise<undefined>) | null> {
  if (findPeer('secretlint').path === null) return null;
  const core: SecretlintCore = await import(pathToFileURL(peerModule('secretlint', 'module/index.js')).href);
  const preset = await import(pathToFileURL(peerModule('secretlintRules', 'module/index.js')).href);
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: preset.creator }] };
  return async (content) => {
    const source = { content, filePath: '/output.txt', contentType: 'text', ext: '.txt' };
    await core.lintSource({ source, options: { config } });
  };
}
