import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['pages/admin.test.ts', 'pages/admin-session.test.ts']

export const admin: Mutant[] = [
  ...mutantsOf('src/pages/admin/admin-handler.ts', TESTS, [
    [
      'admin.form-token',
      'A form brings back what only a page of the session knows.',
      `if (!hasFormToken(request.form, request.formToken)) {`,
      `if (request.formToken === '') {`,
    ],
    [
      'admin.one-session',
      'A session ends where another begins in its place.',
      `await adminSessions.signOut(request.context.actor)`,
      `await Promise.resolve()`,
    ],
    ['admin.next', 'Nobody is led to another site.', `url?.origin === NOWHERE && `, `url && `],
    [
      'admin.nobody',
      'Nobody sees a page without a session.',
      `if (request.context.actor.kind !== 'user') return`,
      `if (request.context.actor.kind === 'system') return`,
    ],
    [
      'admin.kept-form',
      'What another site sends is not kept to be sent again.',
      `isOwnForm(req, publicUrl) && deedAt`,
      `deedAt`,
    ],
    [
      'admin.retry-after',
      'Who guesses too often is told when to try again.',
      `if (retryAfter !== undefined) res.setHeader`,
      `if (retryAfter === 0) res.setHeader`,
    ],
  ]),
  ...mutantsOf('src/pages/admin/action.ts', TESTS, [
    [
      'admin.changes-only',
      'What somebody left as it was in a form is not set back.',
      `value === form.get(firstOf(name)) ? undefined : value`,
      `value`,
    ],
  ]),
  ...mutantsOf(
    'src/pages/admin/list-page.ts',
    ['parity/totals.test.ts'],
    [
      [
        'admin.exact-total',
        'A total that was counted to its end is told as it is.',
        `inAll(total, offset)`,
        `inAll(total)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/doctor-command.ts',
    ['server/doctor.test.ts'],
    [
      [
        'admin.doctor-configuration',
        'The doctor finds nothing right where the configuration is wrong.',
        `filter(([name]) => name === 'configuration' || isWanted(name))`,
        `filter(([name]) => isWanted(name))`,
      ],
      [
        'admin.doctor-fix',
        'An operator is told what to do by whoever knows what is wrong.',
        `if (error instanceof FixableError)`,
        `if (error instanceof TypeError)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/new-file.ts',
    ['processes/commands.processes.ts'],
    [
      ['admin.proof-left', 'No proof that breaks off is left.', `    await rm(path, { force: true })\n`, ``],
      ['admin.proof-over', 'A proof is written over nothing.', `await open(path, 'wx')`, `await open(path, 'w')`],
    ],
  ),
  ...mutantsOf(
    'src/cli/api-key-commands.ts',
    ['processes/commands.processes.ts'],
    [
      [
        'admin.unread-key',
        'Of a key that was made and that nobody has seen it is told how to be rid of it.',
        `      ifUnread(`,
        `      void (`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/accounts-commands.ts',
    ['processes/commands.processes.ts'],
    [
      [
        'admin.empty-key',
        'An empty key of idempotency is refused: points would be given twice.',
        `if (idempotencyKey?.trim() === '') throw`,
        `if (idempotencyKey === ' ') throw`,
      ],
    ],
  ),
  ...mutantsOf('src/pages/admin/own-form.ts', TESTS, [
    [
      'admin.own-form',
      'No form of another site is taken.',
      `if (site !== undefined) return site === 'same-origin'`,
      `if (site !== undefined) return true`,
    ],
    [
      'admin.own-origin',
      'A form comes from where people reach the service, and from nowhere else.',
      `origin === new URL(publicUrl).origin`,
      `origin !== 'null'`,
    ],
  ]),
  ...mutantsOf('src/pages/admin/own-form.ts', TESTS, [
    [
      'admin.kept-secret',
      'A password that was typed stands in no page.',
      `name !== FORM_TOKEN && name !== PASSWORD`,
      `name !== FORM_TOKEN`,
    ],
  ]),
  ...mutantsOf('src/pages/admin/users.ts', TESTS, [
    [
      'admin.lock-guard',
      'An account is locked after the password alone.',
      `path: \`\${PATH}/:id/lock\`,
  isGuarded: true,`,
      `path: \`\${PATH}/:id/lock\`,
  isGuarded: false,`,
    ],
  ]),
  ...mutantsOf('src/pages/admin/action.ts', TESTS, [
    [
      'admin.guard',
      'What cannot be taken back asks for the password.',
      `if (action.isGuarded) await confirm(request)`,
      `if (action.isGuarded) request.form.get(PASSWORD)`,
    ],
    [
      'admin.renewed-form',
      'A form that was sent before with something else in it can be sent once more.',
      `form.delete('key')`,
      ``,
    ],
    [
      'admin.naming',
      'That somebody is not there is told beside the field that names them.',
      `field === undefined ? undefined : { ...refused,`,
      `field !== '' ? undefined : { ...refused,`,
    ],
  ]),
  ...mutantsOf('src/domain/account/admin-session-statements.ts', TESTS, [
    [
      'admin.begins-by-administrators',
      'Only an administrator begins a session of the pages.',
      `and role = 'ADMIN' and deleted_at is null and locked_at is null for share`,
      `and deleted_at is null and locked_at is null for share`,
    ],
    [
      'admin.role-ends',
      'A session ends with the role.',
      `and u.role = 'ADMIN' and u.deleted_at is null`,
      `and u.deleted_at is null`,
    ],
    [
      'admin.password-ends',
      'A session ends with the password it began with.',
      `and s.password_digest = `,
      `and s.password_digest is distinct from `,
    ],
    ['admin.idle-ends', 'A session that is not used ends.', `interval '30 minutes'`, `interval '30 days'`],
    ['admin.ends', 'A session ends after a day’s work.', `interval '8 hours'`, `interval '8 days'`],
  ]),
]
