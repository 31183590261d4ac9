/** F22: the GraphQL door is what the GraphQL-over-HTTP specification says, by the audits of the `graphql-http` package. */
import { createServer } from 'node:http'
import { serverAudits } from 'graphql-http'
import { listen } from '../test/support/listen.ts'
import { createGateway } from './harness/gateway.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** The audits that are not kept, MAY and SHOULD included. */
async function failuresAt(url: string): Promise<{ total: number; failed: string[] }> {
  const audits = serverAudits({ url })
  const failed: string[] = []
  for (const audit of audits) {
    const result = await audit.fn()
    if (result.status !== 'ok') failed.push(`${audit.id} ${audit.name}: ${result.reason}`)
  }
  return { total: audits.length, failed }
}

/** A door that answers everything alike, as a server would that knows nothing of the specification. */
async function startWrongDoor({ afterwards }: ProofContext): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/plain' }).end('{"data":null}')
  })
  return `http://127.0.0.1:${await listen(server, afterwards)}/graphql`
}

export async function proveGraphQLSpec(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const gateway = await createGateway(context, 'gateway', parts.env)
  await gateway.start()
  const { total, failed } = await failuresAt(`${gateway.url}/graphql`)
  const control = await failuresAt(await startWrongDoor(context))
  const reasons = [...failed, ...(await brokenInvariants(parts.database))]
  if (total === 0) reasons.push('There was no audit.')
  if (control.failed.length === 0) reasons.push('The control was not caught: a wrong door passed every audit.')
  context.say(`control: a wrong door fails ${control.failed.length} of ${control.total} audits`)
  return conclude({
    figure: `${total - failed.length}/${total}`,
    n: total,
    faultsInjected: 0,
    reasons,
  })
}
