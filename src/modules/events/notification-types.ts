/** Notifications between processes. */

/** Receives notifications of all processes. They only say where to look: the changes are read from the tables. */
export interface FeedListener {
  /** There may be new events in the feeds of these users. */
  onEvents(ownerIds: readonly string[]): void
  /** These access tokens and API keys, by UUID, have been revoked or deleted. */
  onRevoked(ids: readonly string[]): void
  /** Notifications may have been missed. Called after a reconnect, and every two seconds. */
  onGap(): void
}

/** Notifications between processes. */
export interface FeedNotifications {
  /** Announces new events of a feed. Call it after the statement that wrote them. */
  notify(ownerId: string): void
  /** Returns a function that stops listening. */
  listen(listener: FeedListener): () => void
}
