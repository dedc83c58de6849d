# syntax=docker/dockerfile:1
# The operator is one static binary: no shell, no libc, no root.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY *.go ./
COPY api api
COPY controllers controllers
COPY internal internal
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /warren .

FROM scratch
# Certificate authorities, for brokers whose certificate comes from a public one.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /warren /warren
USER 65532:65532
ENTRYPOINT ["/warren"]
CMD ["operator"]
