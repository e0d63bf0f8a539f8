import { verifyNewest } from '../../audit/verify.ts';
import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { fail, ok, warn } from './check.ts';

const VERIFY = 'Run `ctxd audit verify`, which names every place.';

/** The head and the newest segment of the audit log, read from the files: the whole log can be long. */
export async function checkAuditChain({ paths }: CliContext): Promise<Check> {
  const { faults, head, notes, records } = await verifyNewest(paths.auditDir);
  const [first] = faults.filter(({ isNoted }) => isNoted !== true);
  if (first !== undefined) {
    const place = [first.file, first.line === 0 ? '' : `:${first.line}`, first.file === '' ? '' : ' '].join('');
    return fail(
      'audit chain',
      `${place}${first.what}`,
      `${VERIFY} \`ctxd server restart\` goes on in a new segment, and keeps the damaged one as evidence.`,
    );
  }
  const [noted] = faults;
  if (noted !== undefined) return warn('audit chain', `${noted.file} ${noted.what}`, VERIFY);
  const told = notes.length === 0 ? '' : `; ${notes.join('; ')}`;
  if (head === null) return ok('audit chain', 'no record yet');
  return ok(
    'audit chain',
    `${records} records of the newest segment are as they were written, up to ${head.seq}${told}`,
  );
}
