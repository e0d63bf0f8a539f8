/** The forms of a source, a line each. docs/sources.md has the rest. */
export const SOURCE_FORMS: readonly string[] = [
  'github.com/ORG/REPO[//FOLDER][@REF]       a repository; the same with gitlab.com',
  'git::https://HOST/PATH[//FOLDER][@REF]    any repository; also git::ssh://, git::file:// and git::USER@HOST:PATH',
  'https://HOST/PATH/tool.tar.gz[//FOLDER]   an archive; also .tgz and .zip, and ?checksum=sha256:HEX',
  's3::BUCKET/KEY                            an archive in S3; elsewhere s3::https://HOST/BUCKET/KEY',
  './folder  ./tool.tar.gz                   on this machine',
];

/** The remedy of every fault of a source. A person is shown the forms after it. */
export const SOURCE_REMEDY = 'Write one of these, such as `ctxd tool install github.com/org/tool@v1`.';
