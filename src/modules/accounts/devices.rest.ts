import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { anyObject } from '../../http/rest/values.ts'
import { validationFailed } from '../../shared/errors.ts'

/** Characters of JSON text; what apps send of a device is a few hundred. */
const MAX_LENGTH = 10_000

const register = defineRoute({
  method: 'POST',
  path: 'auth/devices',
  operationId: 'registerDevice',
  tag: 'Earlier apps',
  summary: 'Tell of a device',
  description: 'Nothing is pushed to devices, so nothing of it is kept.',
  deprecated: true,
  body: z.looseObject({}).meta({ id: 'RegisterDevice', description: 'Whatever is known of the device.' }),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestDevice {
      me {
        id
      }
    }
  `),
  variables: ({ body }) => {
    if (JSON.stringify(body.all()).length > MAX_LENGTH) {
      throw validationFailed({ nonFieldErrors: [`Ensure this request has no more than ${MAX_LENGTH} characters.`] })
    }
    return {}
  },
  status: 201,
  answer: anyObject.meta({ id: 'Device', description: 'What was sent.' }),
  // The phone app stops at its start without an answer. Nothing is pushed to devices, so nothing of them is kept.
  present: (_, { body }) => body.all(),
})

/** Devices for notifications, which nobody keeps. */
export const deviceRoutes = [register]
