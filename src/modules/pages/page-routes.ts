/** Routes of HTML pages and their forms. A form is sent to the URL of its page. */
import type { IncomingMessage } from 'node:http'
import { refusalOf } from '../../graphql/execute.ts'
import { refusalHeaders, statuses } from '../../http/error-status.ts'
import { sendPage } from '../../http/http-server.ts'
import { mediaTypeOf, readText } from '../../http/request-body.ts'
import type { DirectRoute } from '../../http/rest/define-route.ts'
import { escapesUtf8 } from '../../http/rest/fields.ts'
import { DomainError } from '../../shared/errors.ts'
import type { RequestWatch } from '../../telemetry/telemetry-types.ts'
import type { PageAnswer, PageRequest, Pages } from './page.ts'

const MAX_FORM_BYTES = 10_000

type PresentRefusal = NonNullable<DirectRoute['presentRefusal']>

/** Reads a form. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE and PARSE_ERROR. */
async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  const type = mediaTypeOf(req.headers['content-type'])
  if (type !== 'application/x-www-form-urlencoded' && type !== '') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the form as application/x-www-form-urlencoded.')
  }
  const text = await readText(req, MAX_FORM_BYTES)
  if (!escapesUtf8(text)) throw new DomainError('PARSE_ERROR', 'The form is not valid UTF-8.')
  return new URLSearchParams(text)
}

type Render = (request: PageRequest, req: IncomingMessage) => Promise<PageAnswer>

/** Creates two routes for each page with a form: one shows the form, the other handles submissions. */
export function createPageRoutes({ pages, watch }: { pages: Pages; watch: RequestWatch }): DirectRoute[] {
  const serve =
    (render: Render, presentRefusal: PresentRefusal): DirectRoute['handle'] =>
    async ({ req, reply, params, query, context }) => {
      const languages = req.headers['accept-language'] ?? ''
      let page: PageAnswer
      try {
        // A page treats a caller with an invalid token as an anonymous caller.
        page = await render({ params, query, languages, context: { ...context, hasStaleToken: false } }, req)
      } catch (error) {
        const refusal = refusalOf(error, context)
        watch.refused(reply.raw, refusal.code)
        page = presentRefusal(refusal, req)
        reply.headers(refusalHeaders(refusal))
      }
      sendPage(reply, page)
    }

  return pages.forms.flatMap(({ path, show, submit, refusal = pages.refusal }): DirectRoute[] => {
    /** Also renders an error if the request did not reach the handler of the page. */
    const presentRefusal: PresentRefusal = ({ code }, req) =>
      refusal(code, statuses[code].status, req.headers['accept-language'] ?? '')
    const receive: Render = async (request, req) => submit(request, await readForm(req))
    const shared = { path, isOpenToStaleTokens: true, presentRefusal }
    return [
      { ...shared, method: 'GET', handle: serve(show, presentRefusal) },
      { ...shared, method: 'POST', handle: serve(receive, presentRefusal) },
    ]
  })
}
