/** Constants and empty lists that the phone apps request at start. The apps stop when such a request fails. */
import { z } from 'zod'
import { assertMay } from '../../shared/policy.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { sendJson } from './send.ts'
import { always } from './values.ts'

const emptyPage = { count: 0, next: null, previous: null, results: [] }
/** No version of an app is ever too old. */
const appInfo = { latest_app_version: '0.0.0', update_urgency: 'low' }

const appInfoRecord = z
  .object({
    latest_app_version: z.literal(appInfo.latest_app_version),
    update_urgency: z.literal(appInfo.update_urgency),
  })
  .meta({ id: 'AppInfo', description: 'No version of an app is ever too old.' })

const emptyPageRecord = z
  .object({ count: always(0), next: always(null), previous: always(null), results: z.array(z.unknown()).max(0) })
  .meta({ id: 'EmptyPage', description: 'A page of a list that is always empty.' })

const describe = (
  operationId: string,
  summary: string,
  access: DirectDescription['access'],
  schema: z.ZodType,
): DirectDescription => ({
  ...{ operationId, summary, access, tag: 'Earlier apps', deprecated: true },
  answers: { 200: { description: 'The same for everybody.', mediaType: 'application/json', schema } },
})

const get = (
  path: string,
  reason: string,
  description: DirectDescription,
  handle: (request: DirectRequest) => void,
): DirectRoute => ({
  method: 'GET',
  path,
  reason,
  description,
  ignoresCredentials: description.access === 'everybody',
  handle: async (request) => handle(request),
})

/** Constants for apps, by the names of their operations. */
const appInfos = { getAppInfo: '/api/v3/app-info', getServicesAppInfo: '/api/v3/services/app-info' }
/** Lists of a marketplace, which anybody may open. */
const openLists = {
  listSeries: '/api/v3/series',
  listProducts: '/api/v3/products',
  listStoreProducts: '/api/v3/store/products',
}
/** Lists of the caller. The phone app requests its transactions from version 2. */
const ownLists = {
  listContacts: '/api/v3/contacts',
  listInbox: '/api/v3/transactions/inbox',
  listTransactions: '/api/v3/transactions',
  listTransactionsOfVersion2: '/api/v2/transactions',
}

/** Constants and empty lists. */
export const appStartRoutes: DirectRoute[] = [
  ...Object.entries(appInfos).map(([operationId, path]) =>
    get(
      path,
      'Tells apps whether to update themselves: a constant.',
      describe(operationId, 'Whether an app has to update itself', 'everybody', appInfoRecord),
      ({ reply }) => void sendJson(reply, appInfo),
    ),
  ),
  ...Object.entries(openLists).map(([operationId, path]) =>
    get(
      path,
      'Old apps open this list at their start; Annal has no such thing, so it is empty.',
      describe(operationId, `The empty list ${path}`, 'everybody', emptyPageRecord),
      ({ reply }) => void sendJson(reply, emptyPage),
    ),
  ),
  ...Object.entries(ownLists).map(([operationId, path]) =>
    get(
      path,
      'Old apps open this list of theirs at their start; Annal has no such thing, so it is empty.',
      describe(operationId, `The empty list ${path}`, 'user', emptyPageRecord),
      (request) => {
        assertMay(request.context.actor, 'account:read')
        sendJson(request.reply, emptyPage)
      },
    ),
  ),
]
