/** The context during the move from services to use-case functions. */

import type { AppContext, Context as UseCaseContext } from './context.ts'
import type { Idempotency } from './shared/idempotency.ts'
import type { RequestQuota } from './shared/rate-limiter.ts'

/** Everything that can be asked of the domain, for resolvers, direct routes, pages and commands. */
export interface Services {
  idempotency: Idempotency
  requestQuota: RequestQuota
}

/** The parts of a context that all requests share. */
export interface SharedContext extends AppContext {
  readonly services: Services
}

/** The context of a request, with the services that are not yet functions. */
export interface Context extends UseCaseContext {
  readonly services: Services
}
