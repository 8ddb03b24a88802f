/** How many spans each service reported under each version of itself, by service. */
export type ServiceVersions = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The attribute of a resource, a process or a span that holds its service's version. */
export const VERSION_ATTRIBUTE = 'service.version'

/** Counts spans by service and version. */
export class ServiceVersionCounts {
  readonly counts = new Map<string, Map<string, number>>()

  add(service: string, version: string): void {
    const versions = this.counts.get(service)
    if (versions === undefined) this.counts.set(service, new Map([[version, 1]]))
    else versions.set(version, (versions.get(version) ?? 0) + 1)
  }
}
