import { dayOfName } from '../audit/segments.ts';

const ARTIFACT = /^artifacts\/([1-9][0-9]{0,15})$/;
const AUDIT = /^audit\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99})\/([^/]+)$/;
const TOOL = /^tools\/([0-9a-f]{64})\/(.+)$/;
/** Of the undo store of a project: its records, the lists that others hold, its calls, and the contents of files. */
const UNDO =
  /^undo\/(?:records\/[0-9a-f]{24}\/\d{15}-undo_[0-9a-z]{8}-req_[0-9A-Z]{26}\.json|trees\/[0-9a-f]{24}\/[0-9a-f]{40}\.[A-Za-z0-9_-]{1,64}|calls\/[0-9a-f]{24}|moved\/[0-9a-f]{24}\/(?:files|objects\/[0-9a-f]{2}\/[0-9a-f]{38}|objects\/pack\/contents-[0-9a-f]{40}))$/;
const LAYER = /^layers\/[0-9a-f]{24}\/[A-Za-z0-9_-]{1,64}\/(?:open|opened|copied|before|upper\.tar|copy\.tar)$/;

/** The number of the content in the state database; null for another entry. */
export function contentOf(path: string): number | null {
  const [, number] = ARTIFACT.exec(path) ?? [];
  return number === undefined ? null : Number(number);
}

/** The log and the segment of an entry; null for another entry. */
export function auditOf(path: string): { log: string; segment: string } | null {
  const [, log = '', segment = ''] = AUDIT.exec(path) ?? [];
  return dayOfName(segment) === '' ? null : { log, segment };
}

/** The bundle and the path in it; null for another entry. */
export function toolOf(path: string): { bundle: string; file: string } | null {
  const [, bundle = '', file = ''] = TOOL.exec(path) ?? [];
  const isPlain = file.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return bundle !== '' && isPlain && !/[\\\0]/.test(file) ? { bundle, file } : null;
}

/** Where a file of undo, checkpoints or branches belongs: a folder of the state, and the path in it. Null for another entry. */
export function projectFileOf(path: string): { root: 'undoDir' | 'layersDir'; file: string } | null {
  if (UNDO.test(path)) return { root: 'undoDir', file: path.slice('undo/'.length) };
  return LAYER.test(path) ? { root: 'layersDir', file: path.slice('layers/'.length) } : null;
}
