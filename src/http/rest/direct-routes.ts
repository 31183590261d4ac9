/** What cannot be an operation, with the reason for each. */
import { z } from 'zod'
import { exportDescription, sendExport } from '../../modules/accounts/export-account.rest.ts'
import { pictureRoutes } from '../../modules/accounts/picture.rest.ts'
import { proofDescription, sendProof } from '../../modules/commits/proof.rest.ts'
import { streamDescription, streamEvents } from '../../modules/events/event-stream.rest.ts'
import type { PageAnswer } from '../../modules/pages/page.ts'
import { notFound } from '../../shared/errors.ts'
import { createProbes, type ProbeParts, sendProbe } from '../probes.ts'
import { appStartRoutes } from './bootstrap-route.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { createDocsRoutes, type DocsPage } from './docs.ts'
import { sendPage } from './send.ts'
import { createFileRoutes, type FileParts } from './send-file.ts'

/** What direct routes need of the process. */
export interface DirectParts extends FileParts, ProbeParts {
  /** The schema of the GraphQL door; null when it is not told. */
  schemaText: (() => string) | null
  homePage: (req: DirectRequest['req']) => PageAnswer
  docs: DocsPage
  /** Instead of the home page, and of the one that shows the description. */
  homeRefusal: NonNullable<DirectRoute['presentRefusal']>
}

const json = (description: string, schema: z.ZodType) => ({ description, mediaType: 'application/json', schema })

const probeDescription = (
  operationId: string,
  summary: string,
  answers: DirectDescription['answers'],
): DirectDescription => ({ operationId, summary, tag: 'Service', access: 'everybody', answers })

const missing = z.array(z.string()).describe('The parts that are away.')
const probeDescriptions = {
  healthz: probeDescription('getHealth', 'Whether the process lives', {
    200: json('It does.', z.object({ status: z.literal('ok') }).meta({ id: 'Health', description: 'It lives.' })),
  }),
  readyz: probeDescription('getReadiness', 'Whether requests can be served', {
    200: json(
      'They can; `degraded`: most of them.',
      z
        .object({ status: z.enum(['ok', 'degraded']), missing: missing.optional() })
        .meta({ id: 'Readiness', description: 'Requests can be served.' }),
    ),
    503: json(
      'They cannot.',
      z
        .object({ status: z.enum(['unavailable', 'starting', 'stopping']), missing: missing.optional() })
        .meta({ id: 'Unreadiness', description: 'Requests cannot be served.' }),
    ),
  }),
  version: probeDescription('getVersion', 'Which version is running', {
    200: json(
      'The version.',
      z
        .object({ version: z.string().describe('As the package has it.') })
        .meta({ id: 'Version', description: 'What is running.' }),
    ),
  }),
}

/** All direct routes but the pages with forms. */
export function createDirectRoutes(parts: DirectParts): DirectRoute[] {
  const get = (
    path: string,
    reason: string,
    handle: DirectRoute['handle'],
    description?: DirectDescription,
  ): DirectRoute => ({
    method: 'GET',
    path,
    reason,
    description,
    handle,
  })

  const probes = createProbes(parts)
  const sameForAll = (...route: Parameters<typeof get>): DirectRoute => ({ ...get(...route), ignoresCredentials: true })
  const probe = (name: keyof typeof probes, reason: string): DirectRoute => ({
    ...sameForAll(
      `/${name}`,
      reason,
      async ({ reply }) => sendProbe(reply, await probes[name]()),
      probeDescriptions[name],
    ),
    isUncounted: name !== 'version',
  })

  return [
    probe('healthz', 'Asked by supervisors: tells that the process lives, and touches nothing else.'),
    probe('readyz', 'Asked by balancers: tells whether requests can be served.'),
    probe('version', 'Asked by operators.'),
    sameForAll(
      '/schema.graphql',
      'A document: read by code generators that do not ask GraphQL itself.',
      async ({ reply }) => {
        if (!parts.schemaText) throw notFound('Schema')
        reply.headers({ 'Content-Type': 'application/graphql; charset=utf-8', 'Cache-Control': 'no-cache' })
        reply.send(parts.schemaText())
      },
    ),
    {
      ...sameForAll('/', 'A page for people.', async ({ req, reply }) => void sendPage(reply, parts.homePage(req))),
      presentRefusal: parts.homeRefusal,
    },
    get(
      '/api/v3/events/stream',
      'Server-sent events: an answer that goes on for as long as somebody reads.',
      streamEvents,
      streamDescription,
    ),
    // The phone app knows this family without the prefix.
    get('/api/v3/auth/users/me/export', 'A document of any size, streamed.', sendExport, exportDescription),
    get('/auth/users/me/export', 'The same for the phone app.', sendExport),
    get('/api/v3/assets/:nid/proof', 'A file of any size, streamed.', sendProof, proofDescription),
    ...createDocsRoutes(parts.docs, parts.homeRefusal),
    ...appStartRoutes,
    ...pictureRoutes,
    ...createFileRoutes(parts),
  ]
}
