import { camel, type Kind, kebab, number, one, pascal, snake, strong, title, word } from './sessions.ts';

/** A rule for the files of one program applies to texts that are such files, and not to other programs. */
export const paths: Kind = {
  name: 'the path of a rule',
  makers: {
    'another language assigns a name': (random) => ({
      texts: [
        one(
          [
            `    assert_equal "${word(random)} ${word(random)}", page.password_label\n    user.password = ${camel(random)}\n`,
            `class ${pascal(random)}:\n    password_field = "${snake(random)}_field"\n    admin_password_help = "${word(random)}-${word(random)}.html"\n`,
            `  const passwordInput = "${kebab(random)}-input"\n  expect(password).toBe("${camel(random)}Input")\n`,
            `label.password = "${title(random)} ${word(random)}"\n`,
            `strings.password = "${title(random)}"\nstrings.next = "${word(random)}"\n`,
            `translations.it.password = "parola d'ordine"\n`,
          ],
          random,
        ),
      ],
    }),
    'a password of Terraform': (random) => ({
      texts: [
        `resource "aws_db_instance" "${word(random)}" {\n  engine   = "postgres"\n  username = "${word(random)}"\n  password = "«${strong(random).replaceAll(/[$%]/g, 'x')}»"\n}\n`,
      ],
    }),
    'a chosen password of Terraform': (random) => ({
      texts: [
        `resource "${snake(random)}_user" "${word(random)}" {\n  name     = "${word(random)}"\n  administrator_login_password = "«${word(random)}${number(1000, 99_999, random)}»"\n}\n`,
      ],
    }),
    'references of Terraform': (random) => ({
      texts: [
        `module "${word(random)}" {\n  source          = "./modules/${kebab(random)}"\n  master_password = var.${snake(random)}\n  secret_name     = "${kebab(random)}"\n  password_length = ${number(8, 64, random)}\n}\n`,
      ],
    }),
    'data of a manifest': (random) => ({
      texts: [
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${kebab(random)}\ndata:\n  ${word(random)}: ${word(random)}\n  secret-name: ${kebab(random)}\n`,
      ],
    }),
  },
};
