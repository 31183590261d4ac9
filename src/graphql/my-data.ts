import { MAX_DATA_BYTES } from '../domain/account/export-service.ts'
import { builder } from './builder.ts'
import { wholeDocument } from './sizes.ts'

builder.queryField('myData', (t) =>
  t.field({
    ...wholeDocument(MAX_DATA_BYTES, 2_000),
    type: 'JSONObject',
    description:
      'All data that is stored about you: account, wallet, assets, commits, orders, refunds, transfers, deposits, withdrawals, ' +
      'sessions, links to assets, audit entries, pictures, network apps and events. `GET /api/v3/auth/users/me/export` returns the same data as a file of any size. ' +
      `Raises NOT_AUTHENTICATED, THROTTLED while another export of yours goes on, VALIDATION_FAILED when there are more than ${MAX_DATA_BYTES / 1e6} MB or 10,000 rows.`,
    resolve: (_root, _args, { actor, services }) => services.exports.read(actor),
  }),
)
