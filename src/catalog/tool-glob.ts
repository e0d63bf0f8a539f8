/**
 * Matches names and ids of tools. `*` stands for any characters, every other character for itself. What a person writes without the version
 * or hash of an id means every version: `alpha:echo` matches `alpha:echo#1a2b3c4d`. An id also means every entry that has it: it matches
 * the key `…#1a2b3c4d~2` of a second one.
 */
export function toolMatcher(glob: string): (name: string) => boolean {
  const matches = plainMatcher(glob);
  return (name) => matches(name) || matches(idOfKey(name)) || matches(name.replace(/[@#].*$/, ''));
}

/** The id of an entry: its key without the number that parts it from others with the same id. */
export function idOfKey(key: string): string {
  return key.replace(/(#[0-9a-f]{8})~\d+$/, '$1');
}

function plainMatcher(glob: string): (name: string) => boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === glob;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}
