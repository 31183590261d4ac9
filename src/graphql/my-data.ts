import { builder } from './builder.ts'

builder.queryField('myData', (t) =>
  t.field({
    type: 'JSONObject',
    description:
      'Everything that is kept of you: account, wallet, assets, commits, orders, transfers, grants, deposits, sessions, audit ' +
      'entries and network apps. `GET /api/v3/auth/users/me/export` gives the same as a file of any size. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED when there are more than 10,000 rows.',
    resolve: (_root, _args, { actor, services }) => services.exports.read(actor),
  }),
)
