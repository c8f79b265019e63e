# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional dependencies are Node itself for machines that lack it, and the tests' native parts.
RUN npm ci --omit=dev --omit=optional

FROM node:24-slim
ENV NODE_ENV=production \
    LISTING_SYNC_CONFIG=/config/listing-sync.yaml
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
COPY config config
COPY fixtures/demo fixtures/demo
# /config is where the configuration is mounted; its store, ../data/listing-sync.db, is then on the volume.
RUN mkdir -p /data /config && cp config/listing-sync.yaml /config/ && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=1m --timeout=10s --start-period=1m CMD ["node", "bin/listing-sync.mjs", "status", "--health"]
# Young objects may take 16 MB and no more: by itself V8 lets them grow to 128 MB, which buys next to nothing here.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--optimize-for-size", "bin/listing-sync.mjs"]
CMD ["daemon"]
