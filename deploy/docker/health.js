/** Health check of the container: exits with 0 if the service is ready. */
import process from 'node:process'

const port = process.env.HEALTH_PORT || process.env.PORT || '4000'
const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_500) }).catch(
  () => undefined,
)
process.exitCode = answer?.status === 200 ? 0 : 1
