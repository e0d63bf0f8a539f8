import { type NameRow, rowsOf } from '../row.ts';

const IN_PACKAGES = true;

/** Hooks and settings of version control systems. `.git` is judged by what it holds: see `src/guard/git`. */
export const VERSION_CONTROL: readonly NameRow[] = [
  ...rowsOf(
    'set aside',
    [
      [
        ['.hg', '.hgrc'],
        'Mercurial',
        'any hg command, and prompts that ask it',
        'https://www.mercurial-scm.org/help/topics/config',
      ],
      [['.jj'], 'Jujutsu', 'any jj command, and prompts that ask it', 'https://docs.jj-vcs.dev/latest/config/'],
      [
        ['.sl'],
        'Sapling',
        'any sl command, and prompts that ask it',
        'https://sapling-scm.com/docs/introduction/getting-started',
      ],
      [
        ['.bzr'],
        'Breezy',
        'any brz command',
        'https://www.breezy-vcs.org/doc/en/user-reference/configuration-help.html',
      ],
      [['.pijul'], 'Pijul', 'any pijul command', 'https://pijul.org/manual/'],
      [['_darcs'], 'Darcs', 'any darcs command', 'https://darcs.net/Using/Configuration'],
      [
        ['.svn'],
        'Subversion',
        'any svn command, and prompts that ask it',
        'https://svnbook.red-bean.com/en/1.7/svn.advanced.externals.html',
      ],
      [
        ['cvs/root'],
        'CVS',
        'any cvs command',
        'https://www.gnu.org/software/trans-coord/manual/cvs/html_node/Connecting-via-rsh.html',
      ],
      [
        ['.fslckout', '_fossil_', '.fossil-settings'],
        'Fossil',
        'any fossil command, and prompts that ask it',
        'https://fossil-scm.org/home/doc/trunk/www/settings.wiki',
      ],
      [
        ['.p4config', 'p4config.txt', '.p4env', '.p4enviro'],
        'Perforce',
        'any p4 command',
        'https://help.perforce.com/helix-core/server-apps/cmdref/current/Content/CmdRef/P4CONFIG.html',
      ],
      [
        ['.repo'],
        'repo',
        'any repo command',
        'https://gerrit.googlesource.com/git-repo/+/main/docs/internal-fs-layout.md',
      ],
      [
        ['.arcconfig', '.arclint'],
        'Arcanist',
        'any arc command',
        'https://secure.phabricator.com/book/phabricator/article/arcanist_new_project/',
      ],
    ],
    IN_PACKAGES,
  ),
  ...rowsOf('set aside', [
    [
      ['.husky', '.huskyrc', '.huskyrc.js', '.huskyrc.json', '.huskyrc.yaml', '.huskyrc.yml', 'husky.config.js'],
      'Husky',
      'any git command with a hook',
      'https://typicode.github.io/husky/',
    ],
    [
      ['.lfsconfig'],
      'Git LFS',
      'a checkout of a file that Git LFS keeps on the server that this file names',
      'https://github.com/git-lfs/git-lfs/blob/main/docs/man/git-lfs-config.adoc',
    ],
  ]),
];
