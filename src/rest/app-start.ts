/** What old apps ask for when they start, of things that Annal does not have: they stop when it fails. */
import { assertMay } from '../domain/policy.ts'
import type { DirectRequest, DirectRoute } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

const sendJson = ({ req, res }: DirectRequest, body: object) => {
  res.writeHead(200, { ...corsHeaders, 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' })
  res.end(req.method === 'HEAD' ? undefined : JSON.stringify(body))
}

const emptyPage = { count: 0, next: null, previous: null, results: [] }
/** No version of an app is ever too old. */
const appInfo = { latest_app_version: '0.0.0', update_urgency: 'low' }

const get = (path: string, reason: string, handle: (request: DirectRequest) => void): DirectRoute => ({
  method: 'GET',
  path,
  reason,
  handle: async (request) => handle(request),
})

/** Lists of a marketplace, which anybody may open. */
const openLists = ['/api/v3/series', '/api/v3/products', '/api/v3/store/products']
/** Lists of one's own. The phone app still asks for its transactions at the version before. */
const ownLists = ['/api/v3/contacts', '/api/v3/inbox', '/api/v3/transactions', '/api/v2/transactions']

/** Constants and empty lists. */
export const appStartRoutes: DirectRoute[] = [
  ...['/api/v3/app-info', '/api/v3/services/app-info'].map((path) =>
    get(path, 'Tells apps whether to update themselves: a constant.', (request) => sendJson(request, appInfo)),
  ),
  ...openLists.map((path) =>
    get(path, 'Old apps open this list at their start; Annal has no such thing, so it is empty.', (request) =>
      sendJson(request, emptyPage),
    ),
  ),
  ...ownLists.map((path) =>
    get(
      path,
      'Old apps open this list of theirs at their start; Annal has no such thing, so it is empty.',
      (request) => {
        assertMay(request.context.actor, 'account:read')
        sendJson(request, emptyPage)
      },
    ),
  ),
]
