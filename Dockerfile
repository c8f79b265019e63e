# The base image by its digest (the index for amd64 and arm64), so that the same bytes are built tomorrow. For a newer one:
#   docker buildx imagetools inspect node:24.21.0-bookworm-slim    # prints "Digest: sha256:…"
#   docker build --build-arg BASE=node:24.21.0-bookworm-slim@sha256:… -t listing-sync .
ARG BASE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY bin bin
COPY src src
COPY config/presets config/presets
# docker build --build-arg COMMIT="$(git rev-parse --short HEAD)" …: what --version says beside the version.
ARG COMMIT=
RUN COMMIT=${COMMIT} npm run build

FROM ${BASE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What is optional are native parts of libraries, which do without.
RUN npm ci --omit=dev --omit=optional

FROM ${BASE}
ARG COMMIT=
LABEL org.opencontainers.image.title="listing-sync" \
      org.opencontainers.image.description="Keeps a chatbot's real-estate listings equal to what an MLS-style feed says" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.licenses="MIT"
# Nothing is installed from here on, by us or by whoever gets in: no npm, yarn, corepack, apt or dpkg.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* /usr/bin/apt* /usr/bin/dpkg* /usr/lib/apt /var/lib/apt /var/cache/apt
# HOME: any user has one, and the queue's library looks for files of its own from the working folder up to there.
# MALLOC_ARENA_MAX: threads share their memory, as a long command has it anyway.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    HOME=/app \
    LISTING_SYNC_CONFIG=/config/listing-sync.yaml \
    LISTING_SYNC_UMASK=007 \
    TMPDIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY config config
COPY fixtures/demo fixtures/demo
# /config is where the configuration is mounted; its store, ../data/listing-sync.db, is then on the volume, and so is what a run
# keeps on the side (TMPDIR), which may be larger than memory.
RUN mkdir -p /data /config && cp config/listing-sync.yaml /config/ && chown 10001:0 /data && chmod 770 /data
# Any user of group 0 will do: some platforms choose one.
USER 10001:0
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=1m --timeout=10s --start-period=1m CMD ["node", "bin/listing-sync.mjs", "status", "--health"]
ENTRYPOINT ["node", "bin/listing-sync.mjs"]
CMD ["daemon"]
