import type { GitleaksCase } from './gitleaks-cases.ts';

/** A configuration, valid or not. Our engine must treat it as gitleaks does. */
export interface ConfigCase {
  title: string;
  toml: string;
}

/** The text that every configuration is tried on. */
export const CONFIG_TEXTS: readonly GitleaksCase[] = [
  { path: 'cases/a.txt', text: 'k=abc12 K=xyz99\nkey=abc12 fine\n\nk=zz77 and k=abc13' },
  { path: 'cases/sub/b.yml', text: 'one k=q1\ntwo l=abc12\r\nk=TEST55 l=r2 gitleaks:allow\nk=false1\n' },
  { path: 'cases/c.p12', text: 'k=abc12 l=s3' },
  { path: 'cases/d.txt', text: `x k=${Buffer.from('k=abc12 k=deep1 l=r9').toString('base64')} l=t4\nk=%61%62c12\n` },
  { path: 'cases/e.txt', text: 'é k=ä1b2 😀 k=abc12 İ \u212a=abc12\n\n\nl=u5 k=abc12\n' },
];

/** The files that configurations extend, by name. */
export const EXTENDED_FILES: Readonly<Record<string, string>> = {
  'base.toml': `[allowlist]\nstopwords = ['xyz']
[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\nentropy = 1.5\ntags = ['base']\nkeywords = ['k']
[[rules.allowlists]]\nregexes = ['^abc13$']
[[rules]]\nid = 'other'\nregex = 'l=(\\w+)'\nsecretGroup = 1\n`,
  'targeted.toml': `[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'
[[allowlists]]\ntargetRules = ['r']\nstopwords = ['abc']\n`,
  'level1.toml': `[extend]\npath = 'level2.toml'\n[[rules]]\nid = 'one'\nregex = 'k=(\\w+)'\n`,
  'level2.toml': `[extend]\npath = 'level3.toml'\n[[rules]]\nid = 'two'\nregex = 'l=(\\w+)'\n`,
  'level3.toml': `[[rules]]\nid = 'three'\nregex = 'abc\\d+'\n`,
  'wrong-target.toml': `[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\n[[allowlists]]\ntargetRules = ['none']\nstopwords = ['abc']\n`,
  'bad-rule.toml': `[[rules]]\nid = 'bad'\nregex = 'k=(?=x)'\n[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\n`,
  'required.toml': `[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\nskipReport = true\n
[[rules]]\nid = 's'\nregex = 'l=(\\w+)'\n[[rules.required]]\nid = 'r'\nwithinLines = 0\n`,
};

const K = `[[rules]]\nid = 'r'\nregex = '''k=(\\w+)'''\n`;
const L = `[[rules]]\nid = 'l'\nregex = '''l=(\\w+)'''\n`;
const list = (settings: string): string => `${K}[[rules.allowlists]]\n${settings}\n`;
const required = (settings: string): string => `${L}${K}[[rules.required]]\nid = 'l'\n${settings}\n`;

const READING: Readonly<Record<string, string>> = {
  'a rule': K,
  'no rule': `title = 'x'\n`,
  'an empty file': '',
  'keys in any case': `[[Rules]]\nID = 'r'\nREGEX = '(k)=(\\w+)'\nsecretgroup = 2\nKeyWords = ['ABC']\n`,
  'unknown keys': `foo = 1\n[bar]\nx = 2\n${K}baz = true\n`,
  'broken TOML': `${K}x = `,
  'an id used twice': `${K}[[rules]]\nid = 'r'\nregex = 'l=(\\w+)'\n`,
  'an id with spaces': `[[rules]]\nid = ' r '\nregex = 'k=(\\w+)'\n`,
  'no id': `[[rules]]\nregex = 'k=(\\w+)'\n`,
  'a blank id': `[[rules]]\nid = '  '\nregex = 'k=(\\w+)'\n`,
  'neither regex nor path': `[[rules]]\nid = 'r'\n`,
  'numbers as texts': `[[rules]]\nid = 'r'\nregex = 'k=((\\w+))'\nsecretGroup = '0x2'\nentropy = '1.0'\n`,
  'texts as numbers': `[[rules]]\nid = 12\nregex = 'k=(\\w+)'\ntags = [1, true, 2.5]\n`,
  'lists as texts': `${K}keywords = 'nothing,ABC'\ntags = 'a, b'\n`,
  'a boolean as a number': `${K}skipReport = 1\n`,
  'a boolean as a text': `${K}skipReport = 'T'\n`,
  'an invalid boolean': `${K}skipReport = 'yes'\n`,
  'an invalid number': `${K}entropy = 'much'\n`,
  'a float as a group': `${K}secretGroup = 1.9\n`,
  'a list as an id': `[[rules]]\nid = ['r']\nregex = 'k'\n`,
  'a table as keywords': `${K}keywords = { a = 1 }\n`,
  'nested keywords': `${K}keywords = [['abc']]\n`,
  'a date as an id': `[[rules]]\nid = 2020-01-01\nregex = 'k'\n`,
  'rules as one table': `[rules]\nid = 'r'\nregex = 'k=(\\w+)'\n`,
  'rules as a text': `rules = 'x'\n`,
  'a missing group': `${K}secretGroup = 2\n`,
  'a negative group': `${K}secretGroup = -1\n`,
  'a group without groups': `[[rules]]\nid = 'r'\nregex = 'k=\\w+'\nsecretGroup = 1\n`,
  'a negative entropy': `${K}entropy = -1.0\n`,
  'infinite entropy': `${K}entropy = inf\n`,
  'an entropy that is not a number': `${K}entropy = nan\n`,
  'an empty keyword': `${K}keywords = ['']\n`,
  'an empty keyword and another': `${K}keywords = ['', 'abc']\n`,
  'a keyword that is a Kelvin sign': `${K}keywords = ['\u212a=ABC']\n`,
  'a keyword beyond ASCII': `${K}keywords = ['Ä1']\n`,
  'tags and decoded text': `${K}tags = ['t']\n`,
  'an empty match': `[[rules]]\nid = 'r'\nregex = 'x*'\nkeywords = ['xyz']\n`,
  'a group that may be empty': `[[rules]]\nid = 'r'\nregex = 'k=(z?)(\\w+)'\nsecretGroup = 1\n`,
  'line ends in the match': `[[rules]]\nid = 'r'\nregex = '\\n+l=\\w+|\\w+\\n+k'\n`,
  'a wrong minVersion': `minVersion = 'v99.0.0'\n${K}`,
};

const PATTERNS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'k=(?=x)',
    'k=(?!x)',
    '(?<=k=)x',
    '(k)\\1',
    '[',
    '(',
    'k)',
    'a**',
    'a{1001}',
    '(?i)K=(?-i:a)\\w+',
    '(?P<n>k)=',
    '(?<n>k)=\\w',
    'k=\\Z',
    'k=\\w+\\z',
    '(?m)^\\w+$',
    '(?s)k.*k',
    '(?U)k=\\w+',
    'k=[[:alnum:]]+',
    '[^]]k=',
    'k=\\pL+',
    'k=\\p{Nothing}',
    '\\Qk=\\E\\w',
    'k=\\x{61}',
    'k=\\C',
    '\\Ak',
    'k=\\u0061',
    '(?i)\u212a=',
    '(?i)ſ?k=\\w',
    'k=[z-a]',
    '(?:k=)+?',
    'k=\\8',
  ].map((pattern) => [`the pattern ${pattern}`, `[[rules]]\nid = 'r'\nregex = '''${pattern}'''\n`]),
);

const ALLOWLISTS: Readonly<Record<string, string>> = {
  'a regex on the secret': list(`regexes = ['^abc12$']`),
  'a regex on the match': list(`regexTarget = 'match'\nregexes = ['^k=abc12$']`),
  'a regex on the line': list(`regexTarget = 'line'\nregexes = ['fine']`),
  'a regex on the start of a line': list(`regexTarget = 'line'\nregexes = ['^\\nk']`),
  'a regex on the decoded line': list(`regexTarget = 'line'\nregexes = ['deep']`),
  'a target in capitals': list(`regexTarget = 'LINE'\nregexes = ['fine']`),
  'a target by name': list(`regexTarget = 'secret'\nregexes = ['a']`),
  'a flag that leaks': list(`regexes = ['(?i)^q', '^test']`),
  'a regex in two halves': list(`regexes = ['a)(b']`),
  'a regex that is refused': list(`regexes = ['(?=a)']`),
  'a path that is refused': list(`paths = ['(?=a)']`),
  stopwords: list(`stopwords = ['BC1', 'test']`),
  'an empty stopword': list(`stopwords = ['']`),
  'no kind at all': list(`description = 'x'`),
  'an empty table in a rule': `${K}allowlist = {}\n`,
  'an empty table at the top': `[allowlist]\n${K}`,
  'an empty one of many': `[[allowlists]]\n[[rules]]\nid = 'r'\nregex = 'k'\n`,
  'the old table': `${K}[rules.allowlist]\nregexes = ['^abc']\n`,
  'the old table as a list': `${K}[[rules.allowlist]]\nregexes = ['^abc']\n`,
  'both in a rule': `${list(`regexes = ['a']`)}[rules.allowlist]\nregexes = ['b']\n`,
  'both at the top': `[allowlist]\nregexes = ['a']\n[[allowlists]]\nregexes = ['b']\n${K}`,
  'the old table at the top': `[allowlist]\nregexes = ['abc']\n${K}`,
  'many at the top': `[[allowlists]]\nregexes = ['^abc']\n[[allowlists]]\nstopwords = ['xyz']\n${K}`,
  'AND of two': list(`condition = 'AND'\nregexes = ['abc']\nstopwords = ['13']`),
  'AND by sign': list(`condition = '&&'\nregexes = ['abc']\nstopwords = ['13']`),
  'and in small letters': list(`condition = 'and'\nregexes = ['abc']\nstopwords = ['13']`),
  'OR of two': list(`condition = '||'\nregexes = ['abc12']\nstopwords = ['13']`),
  'another condition': list(`condition = 'XOR'\nregexes = ['abc']`),
  'another target': list(`regexTarget = 'file'\nregexes = ['abc']`),
  paths: list(`paths = ['\\.yml$']`),
  'AND with a path': list(`condition = 'AND'\npaths = ['\\.txt$']\nregexes = ['abc']`),
  'AND with paths only': list(`condition = 'AND'\npaths = ['\\.txt$']`),
  'AND with a commit': list(`condition = 'AND'\ncommits = ['abc']\nregexes = ['abc']`),
  'OR with a commit': list(`commits = ['abc']\nregexes = ['abc12']`),
  'commits only': list(`commits = [' ABC ']`),
  'for certain rules': `${K}${L}[[allowlists]]\ntargetRules = ['l']\nregexes = ['abc|r']\n`,
  'for an unknown rule': `${K}[[allowlists]]\ntargetRules = ['nope']\nregexes = ['abc']\n`,
  'the old table for certain rules': `[allowlist]\ntargetRules = ['l']\nstopwords = ['abc']\n${K}${L}`,
  'regexes as one text': list(`regexes = '^abc,^xyz'`),
};

const PATHS: Readonly<Record<string, string>> = {
  'a path rule': `[[rules]]\nid = 'p'\npath = '\\.p12$'\n`,
  'a generic path rule': `[[rules]]\nid = 'generic-p'\npath = '\\.p12$'\n${K}`,
  'a path and a regex': `${K}path = '\\.yml$'\n`,
  'a path rule with a keyword': `[[rules]]\nid = 'p'\npath = 'txt'\nkeywords = ['xyz']\n`,
  'a path rule that is excused': `[[rules]]\nid = 'p'\npath = 'txt'\n[[rules.allowlists]]\npaths = ['a\\.txt']\n`,
  'a path that is refused': `[[rules]]\nid = 'p'\npath = '(?=a)'\n`,
};

const REQUIRED: Readonly<Record<string, string>> = {
  anywhere: required(''),
  'on the same line': required('withinLines = 0'),
  'a line away': required('withinLines = 1'),
  'a few columns away': required('withinColumns = 9'),
  'both limits': required('withinLines = 2\nwithinColumns = 6'),
  'a negative limit': required('withinLines = -1'),
  'a limit as a text': required(`withinlines = '1'`),
  'two rules': `${required('withinLines = 1')}[[rules.required]]\nid = 'z'\n[[rules]]\nid = 'z'\nregex = '\\d\\d'\n`,
  'the same rule twice': `${required('withinLines = 0')}[[rules.required]]\nid = 'l'\nwithinColumns = 7\n`,
  'a rule not reported itself': `${K}[[rules.required]]\nid = 'l'\n${L}skipReport = true\n`,
  'a rule without its keyword': `${K}[[rules.required]]\nid = 'l'\n${L}keywords = ['nowhere']\n`,
  'a rule that requires another': `${K}[[rules.required]]\nid = 'l'\n${L}[[rules.required]]\nid = 'z'\n[[rules]]\nid = 'z'\nregex = 'nowhere'\n`,
  itself: `${K}[[rules.required]]\nid = 'r'\n`,
  'a path rule': `${K}[[rules.required]]\nid = 'p'\n[[rules]]\nid = 'p'\npath = 'txt$'\n`,
  'a rule that is not there': `${K}[[rules.required]]\nid = 'nope'\n`,
  'no id': `${K}[[rules.required]]\nwithinLines = 1\n`,
  'a table': `${K}required = { id = 'l' }\n${L}`,
  'only reported with others': `${K}skipReport = true\n`,
};

const EXTENDING: Readonly<Record<string, string>> = {
  'a path': `[extend]\npath = 'base.toml'\n`,
  'a path and own rules': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'mine'\nregex = '\\d\\d'\n`,
  'in any case': `[Extend]\nPATH = 'base.toml'\nDisabledRules = ['other']\n`,
  'disabled rules': `[extend]\npath = 'base.toml'\ndisabledRules = ['r', 'unknown']\n`,
  'a disabled rule of our own': `[extend]\npath = 'base.toml'\ndisabledRules = ['r']\n${K}`,
  'a changed regex': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nregex = 'key=(\\w+)'\n`,
  'a changed entropy': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nentropy = 2.2\ntags = ['mine']\n`,
  'more keywords': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nkeywords = ['nowhere']\n`,
  'a path added': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\npath = 'yml'\n`,
  'more allowlists': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\n[[rules.allowlists]]\nstopwords = ['c12']\n`,
  'a group that the base lacks': `[extend]\npath = 'base.toml'\n[[rules]]\nid = 'r'\nsecretGroup = 3\n`,
  'allowlists of both': `[extend]\npath = 'base.toml'\n[allowlist]\nstopwords = ['q1']\n`,
  'an allowlist for a rule of the base': `[extend]\npath = 'base.toml'\n[[allowlists]]\ntargetRules = ['r']\nstopwords = ['abc']\n`,
  'a targeted allowlist that is lost': `[extend]\npath = 'targeted.toml'\n`,
  'a wrong target that nobody sees': `[extend]\npath = 'wrong-target.toml'\n`,
  'two levels': `[extend]\npath = 'level1.toml'\n`,
  'a file that is not there': `[extend]\npath = 'nowhere.toml'\n`,
  'a disabled rule that is refused': `[extend]\npath = 'bad-rule.toml'\ndisabledRules = ['bad']\n`,
  'required lost in the merge': `[extend]\npath = 'base.toml'\n${L}[[rules]]\nid = 'r'\n[[rules.required]]\nid = 'l'\nwithinLines = 0\n`,
  'required and skipReport of the base': `[extend]\npath = 'required.toml'\n[[rules]]\nid = 's'\ntags = ['x']\n[[rules]]\nid = 'r'\ntags = ['y']\n`,
  'required of the base only': `[extend]\npath = 'base.toml'\n${K}[[rules.required]]\nid = 'other'\n`,
  'both kinds': `[extend]\npath = 'base.toml'\nuseDefault = true\n`,
  'the default': `[extend]\nuseDefault = true\n${K}`,
  'the default without some': `[extend]\nuseDefault = 'true'\ndisabledRules = 'generic-api-key,jwt'\n${K}`,
  'the default changed': `[extend]\nuseDefault = true\n[[rules]]\nid = 'generic-api-key'\nentropy = 1.0\nregex = '''(?i)k=(\\w+)'''\nkeywords = ['k=']\n`,
  'a URL': `[extend]\nurl = 'https://localhost/x.toml'\n${K}`,
};

export const CONFIG_CASES: readonly ConfigCase[] = Object.entries({
  reading: READING,
  patterns: PATTERNS,
  allowlists: ALLOWLISTS,
  paths: PATHS,
  required: REQUIRED,
  extending: EXTENDING,
}).flatMap(([group, cases]) => Object.entries(cases).map(([title, toml]) => ({ title: `${group}: ${title}`, toml })));
