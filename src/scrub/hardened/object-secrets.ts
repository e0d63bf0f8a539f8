import type { Finding } from '../finding.ts';
import { isPublicPem } from './public-pem.ts';

/**
 * Values that are secret because of what the object around them says of itself, in whatever order its members stand: the
 * private members of a JSON Web Key, all data of a Kubernetes Secret, and what Terraform generated in its state.
 */
export function findObjectSecrets(text: string): Finding[] {
  return [...findKeyMembers(text), ...findSecretData(text), ...findGenerated(text)];
}

/** Characters of an object that are looked at before and after the member that says what it is. */
const REACH_CHARS = 16_384;

/**
 * In these patterns `\\*` before a quote is JSON within JSON. None begins with it: a pattern that does tries each run of
 * backslashes from each of its places.
 */

/** The type of a key, in JSON, also within JSON, in YAML and in objects of programs. */
const KEY_TYPE = /(?<![\w$-])["']?kty\\*["']?[ \t]*[:=]\s*\\*["']?(?:EC|RSA|oct|OKP)(?![\w-])/g;
/** Private numbers of a key and the key of a symmetric one, not the call of a function. */
const PRIVATE_MEMBER =
  /(?<![\w$-])["']?(?:d|p|q|dp|dq|qi|k|r|t)\\*["']?[ \t]*[:=]\s*\\*["']?([A-Za-z0-9_+/-]{10,}={0,2})(?![A-Za-z0-9_+/=(-])/g;

function findKeyMembers(text: string): Finding[] {
  const found: Finding[] = [];
  let done = 0;
  for (const { index } of text.matchAll(KEY_TYPE)) {
    if (index < done) continue;
    const from = Math.max(done, startBefore(text, index));
    const end = text.indexOf('}', index);
    done = Math.min(end === -1 ? text.length : end, index + REACH_CHARS);
    for (const { 0: member, 1: value = '', index: at } of text.slice(from, done).matchAll(PRIVATE_MEMBER)) {
      const start = from + at + member.length - value.length;
      found.push({ rule: 'json-web-key', start, end: start + value.length });
    }
  }
  return found;
}

/** Where the object begins that holds an offset. Members of a JSON Web Key are no objects. */
function startBefore(text: string, at: number): number {
  return Math.max(0, at - REACH_CHARS, text.lastIndexOf('{', at) + 1, text.lastIndexOf('}', at) + 1);
}

const KIND = /"kind\\*"\s*:\s*\\*"Secret\\*"/g;
const ANY_KIND = /"kind\\*"\s*:\s*\\*"/g;
/** The object with the values: strings only. */
const DATA = /"(?:data|stringData)\\*"\s*:\s*\{([^{}]*)\}/g;
const DATA_VALUE = /"[\w.-]+\\*"\s*:\s*\\*"([^"\\]{4,})\\*"/g;

function findSecretData(text: string): Finding[] {
  const found: Finding[] = [];
  for (const { index, 0: kind } of text.matchAll(KIND)) {
    // The data of another object of a list stands beyond the kind of that object.
    const from = lastKindBefore(text, index);
    ANY_KIND.lastIndex = index + kind.length;
    const to = Math.min(ANY_KIND.exec(text)?.index ?? text.length, index + REACH_CHARS);
    for (const { 0: data, 1: members = '', index: at } of text.slice(from, to).matchAll(DATA)) {
      const first = from + at + data.length - members.length - 1;
      for (const { 0: member, 1: value = '', index: place } of members.matchAll(DATA_VALUE)) {
        const start = first + place + member.lastIndexOf(value);
        const end = start + value.length;
        if (!isPublicPem(text, { start, end })) found.push({ rule: 'kubernetes-secret-data', start, end });
      }
    }
  }
  return found;
}

/** A resource of Terraform's state that holds a generated password, and any other one. */
const GENERATED = /"type\\*"\s*:\s*\\*"random_password\\*"/g;
const ANY_TYPE = /"type\\*"\s*:\s*\\*"[a-z]\w*\\*"/g;
const RESULT = /"(?:result|bcrypt_hash)\\*"\s*:\s*\\*"((?:[^"\\]|\\(?!")[^\n])+)\\*"/g;

function findGenerated(text: string): Finding[] {
  const found: Finding[] = [];
  for (const { index, 0: type } of text.matchAll(GENERATED)) {
    const from = index + type.length;
    ANY_TYPE.lastIndex = from;
    const to = Math.min(ANY_TYPE.exec(text)?.index ?? text.length, from + REACH_CHARS);
    for (const { 0: member, 1: value = '', index: at } of text.slice(from, to).matchAll(RESULT)) {
      const start = from + at + member.lastIndexOf(value);
      found.push({ rule: 'terraform-state-password', start, end: start + value.length });
    }
  }
  return found;
}

function lastKindBefore(text: string, at: number): number {
  const from = Math.max(0, at - REACH_CHARS);
  return from + ([...text.slice(from, at).matchAll(ANY_KIND)].at(-1)?.index ?? 0);
}
