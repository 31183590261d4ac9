/** The chapters of the description, in its order. */
export const tags = {
  Account: 'Signing up, one’s own record, e-mail address, username and password.',
  Sessions: 'Signing in and out, and the devices on which somebody is signed in.',
  Assets: 'Registering files, changing what is said of them, and their histories.',
  Files: 'Bytes of registered files, as HTTP and as a trustless gateway of the file network.',
  Quotes: 'The cost of a paid request, and every reason for which it would be refused. Nothing is written or charged.',
  Orders: 'Buying actions of network apps.',
  Wallet: 'The statement of one’s wallet.',
  Events: 'What happened to what is one’s own, as pages and as a stream.',
  Store: 'Network apps, API keys, webhook deliveries and grants of points, for administrators.',
  Webhooks: 'What the receiver of a network app is called with, after Standard Webhooks 1.0.',
  Service: 'Whether the service lives, can serve, and which version it is.',
  'Earlier apps': 'Constants and empty lists for apps that stop when they get none. Nothing new needs them.',
} as const

/** A chapter. */
export type Tag = keyof typeof tags
